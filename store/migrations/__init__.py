"""The only way a store is made or changed: forward migrations on SQLite and PostgreSQL (0.6)."""

HEAD = "0008"
"""The newest revision; a store with another one is migrated, an unknown one is refused."""
