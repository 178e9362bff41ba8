"""Statements run by the driver say what SQLAlchemy says of them, on both databases."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from core.ports import Desk
from store.prepared import Prepared, insert, many, rows
from store.tables import LABEL, OPERATION
from store.unit import SqlStore

_L = LABEL.c
TEXTS = ["plain", "it's ?", "100 % done", ":name", "naïve 決済", "%s %(x)s"]


def test_rows_are_those_sqlalchemy_gives(desk: Desk) -> None:
    """Inserted in bulk and one by one, found by given and by fixed values, changed and counted."""
    store = desk.store
    assert isinstance(store, SqlStore)
    ws = store._ws
    one = Prepared(sa.insert(LABEL))
    longer = Prepared(
        sa.select(_L.label, _L.text)
        .where(_L.ws == sa.bindparam("ws_"), sa.func.length(_L.text) > 4, _L.text != "plain")
        .order_by(_L.label)
    )
    mine = sa.and_(_L.ws == ws, _L.label == sa.bindparam("label_"))
    renamed = Prepared(sa.update(LABEL).where(mine), "text")
    with store._db.write(durable=False) as connection:
        many(connection, insert(LABEL), [(ws, 900 + n, text) for n, text in enumerate(TEXTS[:3])])
        for n, text in enumerate(TEXTS[3:], 903):
            assert one.run(connection, ws=ws, label=n, text=text) == 1
        found = longer.all(connection, ws_=ws)
        same = connection.execute(longer._statement, {"ws_": ws}).all()
        assert [tuple(r) for r in found] == [tuple(r) for r in same]
        assert {r.text for r in found} == set(TEXTS[1:])
        assert longer.first(connection, ws_=-1) is None and longer.value(connection, ws_=-1) is None
        assert renamed.run(connection, label_=904, text="other") == 1
        assert renamed.run(connection, label_=999, text="other") == 0
        query = "SELECT text FROM label WHERE ws = ? AND label BETWEEN ? AND ? ORDER BY label"
        now = [text for (text,) in rows(connection, query, (ws, 900, 905))]
        assert now == [*TEXTS[:4], "other", TEXTS[5]]


def test_a_parameter_left_out_is_a_fault_not_a_null(desk: Desk) -> None:
    """Nothing runs half bound."""
    query = Prepared(sa.select(_L.text).where(_L.ws == sa.bindparam("ws_")))
    store = desk.store
    assert isinstance(store, SqlStore)
    with store._db.read() as connection, pytest.raises(Exception, match="ws_"):
        query.all(connection)


def test_what_no_driver_converts_is_refused_at_once(sqlite_desk: Desk) -> None:
    """A column whose type needs work on each row would come back raw."""
    odd = Prepared(sa.select(sa.type_coerce(OPERATION.c.created, sa.DateTime).label("when")))
    store = sqlite_desk.store
    assert isinstance(store, SqlStore)
    with store._db.read() as connection, pytest.raises(AssertionError, match="when"):
        odd.all(connection)
