"""Compaction: what happens to a request that no longer fits; first, what hosts did (spec 7)."""
