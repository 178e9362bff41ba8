"""The desk: its frame, its panes, the store opened after the first frame (terminal.md, rule 5)."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.containers import Container

from core.safe_text import one_line, visible
from schemas.errors import MemdeskError
from tui import keys
from tui.jumping import Jumping
from tui.messages import Changed, Explain, Hints, OpenPreview
from tui.panes.candidates import CandidatesPane
from tui.theme import DARK, LIGHT, choose, glyphs, is_plain
from tui.widgets.bar import Bar
from tui.widgets.tabs import NAMES, Tabs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult, SystemCommand
    from textual.screen import Screen

    from tui.client import Client, Counts
    from tui.panes.base import Pane

_POLL_S = 1.0
_COPY_LIMIT = 74_000


class DeskApp(Jumping):
    """The app. `client` is None until the store is open."""

    CSS_PATH = Path(__file__).with_name("memdesk.tcss")
    TITLE = "memdesk"
    BINDINGS: ClassVar[list[BindingType]] = list(keys.bindings("desk"))
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (8, "-short"), (34, "-tall")]  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, root: Path, store: str | None = None, reviewer: str | None = None) -> None:
        super().__init__()
        self._root, self._store, self._reviewer = root, store, reviewer
        self.client: Client | None = None
        self.active = 1
        self._counts: Counts | None = None
        self._losing = 0
        self._counting = self._count_again = False
        self._mark = -1
        self._stop = threading.Event()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = "memdesk-dark"
        self._draw_ascii(None)

    # the frame

    def compose(self) -> ComposeResult:
        """Tabs, the first pane, the two bottom rows; other panes come when first shown."""
        yield Tabs(id="tabs")
        with Container(id="panes"):
            yield CandidatesPane()
        yield Bar()

    def on_mount(self) -> None:
        """Paint, then open the store."""
        self._tabs()
        self.query_one(Bar).say("opening the store …", "muted")
        self.pane.focus_list()
        self.call_after_refresh(self._open)

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        found: Pane = self.query_one(f"#pane-{self.active}")  # type: ignore[assignment]
        return found

    @work(exclusive=True, group="open")
    async def _open(self) -> None:
        try:
            client = await asyncio.to_thread(self._make_client)
        except MemdeskError as err:
            # Rich would read a string as markup; a path is none.
            lines = (f"{err.code}: {err.message}", f"  {err.remedy}")
            self.exit(int(err.exit), message=Text("\n".join(map(visible, lines))))
            return
        self.client = client
        if self._taken_down:
            return
        self._configure(client)
        bar = self.query_one(Bar)
        where = [client.name, client.branch, client.reviewer.partition(" <")[0]]
        bar.place([w for w in where if w], f" {glyphs().dot} ")
        for operation, outcome in client.recovered:
            bar.say(f"finished after an interruption: {operation[:11]} {outcome}", "warn")
        if client.desk.store.read_only:
            bar.say("this store can only be read: memdesk explain store.read-only", "warn")
        elif not client.recovered:
            bar.say("")
        for pane in self._panes():
            pane.opened()
        self._follow()
        self.set_interval(_POLL_S, self._poll)
        self.post_message(Changed())

    def _configure(self, client: Client) -> None:
        """Remapped keys, theme and ASCII mode as the workspace's configuration wants them."""
        wanted = client.settings
        if wanted.keys:
            self.set_keymap(dict(wanted.keys))
        if wanted.theme in self.available_themes:
            self.theme = wanted.theme
        if wanted.ascii is not None:
            self._draw_ascii(wanted.ascii)

    def _draw_ascii(self, wanted: bool | None) -> None:
        choose(wanted)
        self.set_class(is_plain(), "-ascii")

    def _make_client(self) -> Client:
        from tui.client import Client

        return Client(self._root, self._store, self._reviewer)

    def _panes(self) -> list[Pane]:
        from tui.panes.base import Pane

        return list(self.query(Pane))

    def _tabs(self) -> None:
        counts = self._counts
        shown = {
            1: counts.waiting if counts else None,
            2: counts.candidates.get("accepted", 0) if counts else None,
        }
        lost = f"{self._losing}!" if self._losing else None
        self.query_one(Tabs).show_panes(shown | {4: lost}, self.active)
        calls = [str(c) for c in (shown[1], lost) if c]
        self.title = " ".join(["memdesk", *calls])

    # following the store

    @work(thread=True, group="follow")
    def _follow(self) -> None:
        if self.client is not None:
            self.client.follow(self._stop, self._hint)

    def _hint(self) -> None:
        self.post_message(Changed())

    @work(exclusive=True, group="poll")
    async def _poll(self) -> None:
        client = self.client
        if client is None:
            return
        try:
            mark = await asyncio.to_thread(client.change_mark)
        except MemdeskError as err:
            self._failed(err)
            return
        if mark != self._mark:
            self._mark = mark
            self.post_message(Changed())
        elif not self._taken_down:
            self.pane.tick()

    def _failed(self, err: MemdeskError) -> None:
        if not self._taken_down:
            self.query_one(Bar).say(f"{err.code}: {err.message} {err.remedy}", "bad")

    @property
    def _taken_down(self) -> bool:
        """True once the frame is taken down; a worker may come back after that."""
        return not self.query(Bar)

    @work(exclusive=True, group="changed")
    async def on_changed(self, event: Changed) -> None:
        """The store or the workspace changed: counts, and the pane in front."""
        event.stop()
        client = self.client
        if client is None:
            return
        try:
            self._counts = await asyncio.to_thread(client.counts)
        except MemdeskError as err:
            self._failed(err)
            return
        if self._taken_down:
            return
        self._tabs()
        self.pane.store_changed()
        self.post_message(Hints())
        self._count_again = True
        if not self._counting:
            self._counting = True
            self._count_losses(client)

    @work(group="losses")
    async def _count_losses(self, client: Client) -> None:
        """A lost standing instruction is the one thing that calls by itself (spec 7.7)."""
        try:
            while self._count_again:
                self._count_again = False
                self._losing = await asyncio.to_thread(client.losing)
                if not self._taken_down:
                    self._tabs()
        except MemdeskError as err:
            self._failed(err)
        finally:
            self._counting = False

    def on_hints(self, event: Hints) -> None:
        """Show the keys valid now."""
        event.stop()
        # The last hints may arrive when leaving has begun and the bar is gone.
        if not self._taken_down:
            self.query_one(Bar).keys(self.pane.hints_now())

    # panes

    def _make(self, number: int) -> Pane:
        if number == 2:
            from tui.panes.promotion import PromotionPane

            return PromotionPane()
        if number == 7:
            from tui.panes.evidence import EvidencePane

            return EvidencePane()
        if number == 4:
            from tui.panes.compaction import CompactionPane

            return CompactionPane()
        if number == 0:
            from tui.panes.status import StatusPane

            return StatusPane()
        from tui.panes.later import LaterPane

        return LaterPane(number)

    async def show_pane(self, number: int) -> Pane:
        """Bring a pane to the front, making it when it is first shown."""
        if number != self.active:
            self.pane.left()
            self.query_one(Bar).release()
            self.query_one(Bar).say("")
        if not self.query(f"#pane-{number}"):
            made = self._make(number)
            await self.query_one("#panes").mount(made)
            if self.client is not None:
                made.opened()
        self.active = number
        for pane in self._panes():
            pane.display = pane.number == number
        self._tabs()
        self.pane.focus_list()
        self.pane.shown()
        self.post_message(Hints())
        return self.pane

    async def action_pane_1(self) -> None:
        """Candidates."""
        await self.show_pane(1)

    async def action_pane_2(self) -> None:
        """Promotion."""
        await self.show_pane(2)

    async def action_pane_3(self) -> None:
        """Context."""
        await self.show_pane(3)

    async def action_pane_4(self) -> None:
        """Compaction."""
        await self.show_pane(4)

    async def action_pane_5(self) -> None:
        """Sources."""
        await self.show_pane(5)

    async def action_pane_6(self) -> None:
        """Outputs."""
        await self.show_pane(6)

    async def action_pane_7(self) -> None:
        """Evidence."""
        await self.show_pane(7)

    async def action_pane_0(self) -> None:
        """Status."""
        await self.show_pane(0)

    async def on_open_preview(self, event: OpenPreview) -> None:
        """Go to the promotion pane with a preview."""
        from tui.panes.promotion import PromotionPane

        event.stop()
        pane = await self.show_pane(2)
        if isinstance(pane, PromotionPane):
            pane.preview_of(event.candidate, event.version)

    # help, codes, copy

    def action_help(self) -> None:
        """Keys of the pane in front."""
        from tui.panes.overlay import Overlay
        from tui.widgets.document import Line

        lines: list[Line] = []
        own = NAMES[self.active].lower()
        for pane in (own, "list", "desk"):
            actions = keys.shared(own) if pane == "list" else keys.of(pane)
            if not actions:
                continue
            lines.append(Line([(f" {pane}", "accent")]))
            for a in actions:
                shown = " ".join(keys.shown(k) for k in a.keys.split(","))
                lines.append(Line([(f"   {shown:<16}", "owner"), (a.help, "text")], indent=19))
            lines.append(Line())
        lines.append(Line([(" ctrl+p opens the command palette: every action by name.", "muted")]))
        signs = " MEMDESK_ASCII=1, or ascii = true under [desk] in config.toml, draws in ASCII."
        lines.append(Line([(signs, "muted")], indent=1))
        self.push_screen(Overlay(f"Help: {NAMES[self.active]}", lines))

    def on_explain(self, event: Explain) -> None:
        """Meaning and remedy of codes."""
        from tui.panes.overlay import Overlay
        from tui.widgets.document import Line

        event.stop()
        lines: list[Line] = []
        for code in event.codes:
            found = self.client.reason(code) if self.client else None
            if found is not None:
                lines += [
                    Line([(f" {code}", "warn")]),
                    Line([(f"   {found.meaning}", "text")], indent=3),
                    Line([(f"   {found.remedy}", "good")], indent=3),
                    Line(),
                ]
        self.push_screen(Overlay("Why", lines, event.through), self._pressed_through)

    def _pressed_through(self, key: str | None) -> None:
        """A key that an overlay let through acts on what is under it."""
        if key:
            self.simulate_key(key)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the pane in front, by name."""
        from textual.app import SystemCommand

        own = NAMES[self.active].lower()
        for pane in (own, "list", "desk"):
            for a in keys.shared(own) if pane == "list" else keys.of(pane):
                target = self if pane == "desk" else self.pane
                run = getattr(target, f"action_{a.name}", None)
                if run is not None:
                    yield SystemCommand(
                        f"{own if pane == 'list' else pane}: {a.label}", a.help, run
                    )
        yield SystemCommand(
            "theme: dark", "Dark colours.", lambda: setattr(self, "theme", DARK.name)
        )
        yield SystemCommand(
            "theme: light", "Light colours.", lambda: setattr(self, "theme", LIGHT.name)
        )

    def action_command_palette(self) -> None:
        """Every action by name; opening it disarms."""
        from tui.widgets.palette import Palette

        self.pane.disarm()
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def action_help_quit(self) -> None:
        """What ctrl+c does elsewhere: say how to leave, without a pop-up."""
        self.pane.disarm()
        self.query_one(Bar).say("q leaves the desk", "text")

    def copy(self, text: str) -> None:
        """Copy through the terminal (OSC 52) and say so."""
        if len(text.encode()) > _COPY_LIMIT:
            self.query_one(Bar).say("not copied: too long for a terminal's clipboard", "warn")
            return
        self.copy_to_clipboard(text)
        shown = one_line(text, 40)
        self.query_one(Bar).say(f"copied “{shown}” through the terminal (OSC 52)", "good")

    async def action_quit(self) -> None:
        """Leave; the store is closed on the way out."""
        self._stop.set()
        self.exit(0)

    def on_unmount(self) -> None:
        """Close what was opened."""
        self._stop.set()
        if self.client is not None:
            self.client.close()


def run(root: Path, store: str | None, reviewer: str | None) -> int:
    """Run the desk; answers an exit status."""
    import sys

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        text = "The desk needs a terminal. `memdesk --help` lists the commands that need none."
        print(text, file=sys.stderr)
        return 2
    app = DeskApp(root, store, reviewer)
    status = app.run()
    return int(status or app.return_code or 0)
