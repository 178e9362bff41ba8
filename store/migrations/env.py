"""Alembic's environment: runs on the connection that `store.engine` hands over."""

from __future__ import annotations

from alembic import context

from store.tables import SQLModel

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transaction_per_migration=False,
)
context.run_migrations()
