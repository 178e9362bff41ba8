"""Pictures of the running desk: lays a sample workspace by core calls, presses keys, writes SVGs.

    python screenshots/make.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ |= {"TEXTUAL_ANIMATIONS": "none", "LC_ALL": "C.UTF-8"}
for name in ("NO_COLOR", "MEMDESK_ASCII", "MEMDESK_WORKSPACE", "MEMDESK_STORE"):
    os.environ.pop(name, None)

from core import desk as desks  # noqa: E402
from core.candidates import review  # noqa: E402
from core.candidates.extract import extract  # noqa: E402
from core.candidates.review import CandidateRef  # noqa: E402
from core.evidence.import_ import import_paths  # noqa: E402
from core.operations import confirm  # noqa: E402
from core.ports import Desk  # noqa: E402
from core.promotion import preview  # noqa: E402
from schemas.candidates import Verdict  # noqa: E402
from schemas.common import Actor, Door  # noqa: E402
from schemas.storage import CandidateFilter  # noqa: E402
from tui.app import DeskApp  # noqa: E402

NOW = 1_796_029_200_000_000
HOUR = 3_600_000_000
REVIEWER = "mara <mara@example.org>"
ACCEPTED = (
    "Tests need REDIS_URL set, or they hang.",
    "The release branch is cut on Thursdays.",
    "Prefer uv over pip in this repository.",
)
TALK = (
    ("assistant", "I read src/refunds/guard.py and the wiki."),
    ("assistant", "The refund guard is at 250 EUR, as the wiki says. Keep it?"),
    ("user", "no, finance raised it. Remember: Refunds above 500 EUR need a second approver."
             " fix the test too please"),
    ("assistant", "Updating the guard and its test."),
    ("user", "Remember: Ledger export runs at 02:00 UTC."),
    ("user", "From now on ask me before adding a dependency to pyproject.toml."),
    ("assistant", "Noted. Which style do commits have here?"),
    ("user", "I prefer commit subjects that are imperative, at most 60 characters."),
    ("user", "Remember: the sandbox key is sk_test_51HGfE2kZ8qvbNxyz"),
    ("user", "We decided that amounts are integers in minor units."),
    ("user", "Procedure: replay a webhook with make hooks, then bin/replay ID."),
    ("user", "Remember that the on-call person is j.lindqvist@example.org this quarter."),
    ("user", "Remember: 決済バッチは銀行営業日の17時に締め切られる。"),
    ("assistant", "Decision: payout batches keep their order of arrival."),
    ("user", "Never log a whole IBAN, mask all but the last 4 digits."),
)


def session(path: Path, talk: tuple[tuple[str, str], ...], name: str, hours: int) -> None:
    """One stored conversation; its messages a minute apart, the last one `hours` ago."""
    from datetime import UTC, datetime

    lines, parent = [], None
    for n, (role, text) in enumerate(talk):
        then = NOW - hours * HOUR - (len(talk) - n) * 60_000_000
        stamp = datetime.fromtimestamp(then / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        content = text if role == "user" else [{"type": "text", "text": text}]
        record = {
            "type": role, "uuid": f"{name}-{n}", "parentUuid": parent, "sessionId": name,
            "timestamp": stamp, "version": "2.1.0", "cwd": "/srv/payments-api",
            "isSidechain": False, "message": {"role": role, "content": content},
        }
        lines.append(json.dumps(record) + "\n")
        parent = record["uuid"]
    path.write_text("".join(lines))


WHO = Actor(reviewer=REVIEWER, door=Door.COMMAND)


def candidates(desk: Desk) -> list[CandidateRef]:
    """All candidates in their order."""
    with desk.store.read() as view:
        rows = view.candidates.window(CandidateFilter(()), 0, 1000)
    return [CandidateRef(r.id, r.version) for r in rows]


def lay(root: Path) -> None:
    """`payments-api`: three lines in memory, a conversation with what was said today."""
    os.urandom = lambda size: b"\x07" * size  # equal ids in every run
    root.mkdir()
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".sessions").mkdir()
    ticks = itertools.count(NOW - 48 * HOUR, 1_000)
    desk, _ = desks.init(root, WHO, clock=lambda: next(ticks))
    earlier = tuple(("user", f"Remember: {s}") for s in ACCEPTED)
    session(root / ".sessions/earlier.jsonl", earlier, "51aa0c2e", 49)
    import_paths(desk, [root / ".sessions/earlier.jsonl"])
    extract(desk)
    for ref in candidates(desk):
        review.decide(desk, ref, Verdict.ACCEPT)
        confirm.confirm(desk, preview.build(desk, ref, "line-memory").operation_id)
    desk.store.close()
    ticks = itertools.count(NOW - 2 * HOUR, 1_000)
    desk = desks.open_(root, WHO, clock=lambda: next(ticks))
    session(root / ".sessions/today.jsonl", TALK, "7acd37a8", 2)
    import_paths(desk, [root / ".sessions/today.jsonl"])
    extract(desk)
    desk.store.close()


class Sample(DeskApp):
    """The desk with a clock that stands still."""

    def _make_client(self):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        client = super()._make_client()
        client.desk = replace(client.desk, clock=lambda: NOW)
        return client


async def picture(folder: Path, name: str, size: tuple[int, int], keys: str, stale: bool = False) -> None:
    """Press keys on a freshly laid workspace and keep what is on screen."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "payments-api"
        lay(root)
        app = Sample(root, reviewer=REVIEWER)
        async with app.run_test(size=size) as pilot:
            async def settle() -> None:
                for _ in range(200):
                    await pilot.pause(0.02)
                    busy = [w for w in app.workers if w.group != "follow" and not w.is_finished]
                    if app.client is not None and not busy:
                        return

            await settle()
            for key in keys.split():
                await pilot.press(key)
                await settle()
            if stale:
                with (root / ".aiwg/memory/line-memory.txt").open("a") as file:
                    file.write("Settlement files arrive by 06:30 CET.\n")
                while "STALE" not in app.export_screenshot():
                    await pilot.pause(0.1)
                await settle()
            svg = app.export_screenshot(title="memdesk")
        (folder / f"{name}.svg").write_text(svg)
        print(f"{name}.svg", len(svg))


PICTURES = (
    ("candidates-120x40", (120, 40), "d j", False),
    ("candidates-80x24", (80, 24), "d j", False),
    ("hazard-120x40", (120, 40), "slash k e y space i s enter", False),
    ("preview-armed-120x40", (120, 40), "A c", False),
    ("preview-armed-80x24", (80, 24), "A space space c", False),
    ("preview-stale-120x40", (120, 40), "A", True),
    ("preview-written-120x40", (120, 40), "A c enter", False),
)


async def main(folder: Path) -> None:
    """All pictures, one after the other."""
    for name, size, keys, stale in PICTURES:
        await picture(folder, name, size, keys, stale)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE))
