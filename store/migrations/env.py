"""Alembic's environment: runs on the connection that `store.engine` hands over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context
from sqlmodel import SQLModel

import store.tables  # noqa: F401  (fills the metadata)
from store.migrations import triggers

connection = context.config.attributes["connection"]

context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    transaction_per_migration=False,
)
context.run_migrations()
for statement in triggers.statements(connection):
    connection.execute(sa.text(statement))
