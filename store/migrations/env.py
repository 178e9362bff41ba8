"""Alembic's environment: runs on the connection that `store.engine` hands over."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

import store.tables  # noqa: F401  (fills the metadata)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transaction_per_migration=False,
)
context.run_migrations()
