"""Sources: which messages may be read again, and what closes them for good (spec 2)."""
