"""The command line: one module a column, no rule of its own (contract)."""

from __future__ import annotations

from core.commands.app import OpenUi, main

__all__ = ["OpenUi", "main"]
