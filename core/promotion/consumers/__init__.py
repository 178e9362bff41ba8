"""Consumers: each changed by its owner's mechanics, in AIWG's layout (spec 5.1)."""
