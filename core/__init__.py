"""The rules: headless, pure where possible, I/O at the edges."""
