"""Candidates: proposals that wait for a person (spec 4)."""
