"""What every cross-layer operation shares: envelope, confirm, outbox, durable writes, receipts."""
