"""Widgets: everything that grows is drawn by the line API, only what is visible."""
