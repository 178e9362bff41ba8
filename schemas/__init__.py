"""The contracts: frozen documents, enumerations, reason codes. No I/O, nothing of ours imported."""
