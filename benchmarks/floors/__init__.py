"""What the same work costs with nothing of ours; only the standard library, orjson, textual."""
