"""Side-by-side measurements against floors that import nothing of ours; see README.md."""
