"""How well it works: studies that write pages of docs. Run with `python -m studies.NAME`."""
