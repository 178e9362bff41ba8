"""Smallest useful Textual app: one line and a footer."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Footer, Static


class Empty(App[None]):
    BINDINGS = [("q", "quit", "Quit")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Static("READY")
        yield Footer()


if __name__ == "__main__":
    Empty().run()
