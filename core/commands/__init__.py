"""The command line: one module a column, no rule of its own (contract)."""
