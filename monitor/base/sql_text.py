"""Texts in SQL: whatever stands in a value, it is one literal of the statement. Pure.

Rule: no value of a log, a file name or a list of the configuration gets into a statement otherwise
than by this function, or as a parameter.
"""

NUL = "\0"  # ends a statement of DuckDB, wherever it stands


def text_in_sql(value: str, *, escapes: bool = False) -> str:
    r"""Write a text in SQL, also where a backslash begins an escape.

    Examples
    --------
    >>> text_in_sql("it's"), text_in_sql("it's", escapes=True)
    ("'it''s'", "'it\\'s'")
    >>> print(text_in_sql("a" + NUL + "b"))
    ('a' || chr(0) || 'b')
    """
    if escapes:
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace(NUL, "\\u0000")
        return f"'{escaped}'"
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split(NUL)]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"
