"""Evidence: import through readers, the ledger's commitments, lookups (spec 1)."""
