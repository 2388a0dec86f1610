"""Prints the tables of docs/measure-tables.md."""

from tools.measure_tables.classes import CLASSES, REGRESSION
from tools.measure_tables.scores import SCORES

for table in (SCORES, CLASSES, REGRESSION):
    print("\n".join(table.lines()), end="\n\n")
