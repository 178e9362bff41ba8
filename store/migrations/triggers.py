"""Triggers that make rows immutable, for both databases (spec 1.4).

They are dropped and made again after every migration, and `verify` lists what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

IMMUTABLE = (
    *("ledger", "event", "decision", "receipt", "artifact_revision"),
    *("fence", "belief_change"),
)
"""No update, no delete, no replace, no truncate."""
NO_UPDATE = ("event_body", "artifact", "artifact_chunk", "artifact_extract", "artifact_bytes")
"""Content that erasure may delete but nothing may rewrite."""
KEYS = {
    "ledger": "ws seq",
    "event": "ws file ordinal",
    "decision": "ws number version turn",
    "receipt": "ws seq",
    "fence": "ws event",
    "belief_change": "ws belief consumer turn",
    "event_body": "ws file ordinal",
    "artifact": "ws artifact",
    "artifact_chunk": "ws artifact chunk",
    "artifact_revision": "ws number",
    "artifact_extract": "ws number lines",
    "artifact_bytes": "ws digest chunk",
}


_BODY = "BEGIN RAISE EXCEPTION 'immutable: %', TG_TABLE_NAME; END"


def expected(connection: Connection) -> dict[str, str]:
    """The triggers a sound store has, and what each does."""
    if connection.dialect.name == "sqlite":
        made = (s for s in sqlite() if s.startswith("CREATE"))
        return {s.split()[2]: s for s in made}
    out = [f"{t}_no_{verb}" for t in IMMUTABLE for verb in ("update", "delete", "replace")]
    out += [f"{t}_no_{verb}" for t in NO_UPDATE for verb in ("update", "replace")]
    return dict.fromkeys(out, _BODY)


def found(connection: Connection) -> dict[str, str]:
    """The triggers this store has switched on, and what each does."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    if connection.dialect.name != "sqlite":
        query = (
            "SELECT t.tgname, btrim(p.prosrc) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid "
            "WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') "
            "AND t.tgrelid IN (SELECT c.oid FROM pg_class c WHERE pg_table_is_visible(c.oid))"
        )
    return {row[0]: row[1] for row in connection.exec_driver_sql(query)}


def statements(connection: Connection) -> Iterator[str]:
    """Statements that (re)create every trigger, run after each migration."""
    return sqlite() if connection.dialect.name == "sqlite" else postgresql()


def sqlite() -> Iterator[str]:
    """Statements that (re)create the triggers on SQLite."""
    for table in (*IMMUTABLE, *NO_UPDATE):
        verbs = ("update", "delete") if table in IMMUTABLE else ("update",)
        for verb in verbs:
            yield f"DROP TRIGGER IF EXISTS {table}_no_{verb}"
            yield (
                f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'immutable: {table}'); END"
            )
        same = " AND ".join(f"{k} = NEW.{k}" for k in KEYS[table].split())
        yield f"DROP TRIGGER IF EXISTS {table}_no_replace"
        yield (
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
            f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) "
            f"BEGIN SELECT RAISE(ABORT, 'immutable: {table}'); END"
        )


def postgresql() -> Iterator[str]:
    """Statements that (re)create the triggers on PostgreSQL."""
    yield (
        "CREATE OR REPLACE FUNCTION memdesk_immutable() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ {_BODY} $$"
    )
    for table in (*IMMUTABLE, *NO_UPDATE):
        for verb in ("update", "delete") if table in IMMUTABLE else ("update",):
            yield f"DROP TRIGGER IF EXISTS {table}_no_{verb} ON {table}"
            yield (
                f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION memdesk_immutable()"
            )
        yield f"DROP TRIGGER IF EXISTS {table}_no_replace ON {table}"
        yield (
            f"CREATE TRIGGER {table}_no_replace BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION memdesk_immutable()"
        )
