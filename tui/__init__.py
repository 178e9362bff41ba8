"""The desk: Textual panes that show contracts and call core."""
