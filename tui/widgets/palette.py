"""The command palette, as Textual makes it, safe for keys that come before its list is laid out."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette


class Palette(CommandPalette):
    """A page key has no page to turn while the list has no height; Textual's own fails then."""

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).size.height:
            super()._action_command_list(action)
