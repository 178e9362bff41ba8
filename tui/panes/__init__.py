"""Panes: one a column; they show contracts, call the client, and navigate by app messages."""
