"""What measures say in several worlds: the tables of docs/measure-tables.md."""
