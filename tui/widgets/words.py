"""A row to type words into; what would act on the terminal or hide is not taken, also in a paste."""

from __future__ import annotations

from textual.widgets import Input

from core.safe_text import hidden


class WordsInput(Input):
    """Base of every input: Textual draws an input's value as it is."""

    DEFAULT_CSS = "WordsInput { height: 1; border: none; padding: 0 1; }"

    def validate_value(self, value: str) -> str:
        """The words without characters that a row may not hold."""
        if value.isascii() and value.isprintable():
            return value
        return "".join(c for c in value if c == " " or not (hidden(c) or c.isspace()))
