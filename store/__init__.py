"""Tables and the queries on them; queries return contracts, never rows. No rule lives here."""
