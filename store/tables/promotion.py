"""Operations, what they write, receipts and beliefs."""

from __future__ import annotations

from sqlmodel import SQLModel

from store.tables.types import bytes_, int_, table, text_


class OperationRowTable(SQLModel, table=True):
    """A previewed or confirmed operation: what it is bound to, never statement bytes."""

    __tablename__ = "operation"
    ws: int = int_(primary_key=True)
    id: str = text_(primary_key=True)
    action: str = text_()
    consumer: str = text_()
    subject: str = text_()
    state: str = text_()
    envelope: bytes = bytes_()
    checkout: str = text_()
    actor: bytes = bytes_()
    as_of: int = int_()
    created: int = int_()
    error: str | None = text_(nullable=True)


class OperationAboutRow(SQLModel, table=True):
    """One of the subjects of an operation about several."""

    __tablename__ = "operation_about"
    ws: int = int_(primary_key=True)
    subject: str = text_(primary_key=True)
    operation: str = text_(primary_key=True)


class OutboxRow(SQLModel, table=True):
    """The bytes of a prepared sink; they exist only from prepared to applied."""

    __tablename__ = "outbox"
    ws: int = int_(primary_key=True)
    operation: str = text_(primary_key=True)
    number: int = int_(primary_key=True)
    path: str = text_()
    before_digest: str | None = text_(nullable=True)
    after_digest: str = text_()
    after: bytes = bytes_()


class DivergenceRow(SQLModel, table=True):
    """Both versions of a destination that held neither the before nor the after bytes."""

    __tablename__ = "divergence"
    ws: int = int_(primary_key=True)
    operation: str = text_(primary_key=True)
    path: str = text_(primary_key=True)
    found: bytes = bytes_()
    wanted: bytes = bytes_()


class ReceiptRow(SQLModel, table=True):
    """Proof of one applied sink; never updated or deleted."""

    __tablename__ = "receipt"
    ws: int = int_(primary_key=True)
    seq: int = int_(primary_key=True)
    id: str = text_()
    operation: str = text_()
    consumer: str = text_()
    document: bytes = bytes_()


class BeliefRow(SQLModel, table=True):
    """An accepted statement that was promoted."""

    __tablename__ = "belief"
    ws: int = int_(primary_key=True)
    id: str = text_(primary_key=True)
    candidate: str = text_()
    version: int = int_()
    statement: str = text_()
    valid_from: int | None = int_(nullable=True)
    valid_until: int | None = int_(nullable=True)
    recorded: int = int_()


class BeliefConsumerRow(SQLModel, table=True):
    """One consumer's copy of a belief."""

    __tablename__ = "belief_consumer"
    ws: int = int_(primary_key=True)
    belief: str = text_(primary_key=True)
    consumer: str = text_(primary_key=True)
    state: str = text_()
    receipt: str = text_()


class BeliefChangeRow(SQLModel, table=True):
    """How a belief stood at a consumer from a moment on; never updated or deleted."""

    __tablename__ = "belief_change"
    ws: int = int_(primary_key=True)
    belief: str = text_(primary_key=True)
    consumer: str = text_(primary_key=True)
    turn: int = int_(primary_key=True)
    state: str = text_()
    time: int = int_()
    receipt: str | None = text_(nullable=True)
    replacement: str | None = text_(nullable=True)


OPERATION = table(OperationRowTable)
OPERATION_ABOUT = table(OperationAboutRow)
OUTBOX = table(OutboxRow)
DIVERGENCE = table(DivergenceRow)
RECEIPT = table(ReceiptRow)
BELIEF = table(BeliefRow)
BELIEF_CONSUMER = table(BeliefConsumerRow)
BELIEF_CHANGE = table(BeliefChangeRow)
