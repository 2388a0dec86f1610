"""Values of rows as text, so that the messages of both engines are equal."""

import duckdb
import narwhals as nw

from monitor.logs.session import Frame


def as_duckdb_writes(rows: Frame) -> Frame:
    """Let DuckDB write values of a few rows, of which Spark writes numbers and times its way."""
    if not rows.implementation.is_spark_like():
        return rows
    table = rows.collect(backend="pyarrow").to_native()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    frame: Frame = nw.from_native(connection.from_arrow(table)).lazy()
    return frame


def text_of_id(rows: Frame, column: str) -> nw.Expr:
    """Write an id as text; a key of several columns as DuckDB does."""
    value = nw.col(column)
    dtype = rows.collect_schema()[column]
    if not (isinstance(dtype, nw.Struct) and rows.implementation.is_spark_like()):
        return value.cast(nw.String)
    parts = list[nw.Expr]()
    for field in dtype.fields:
        before = ", " if parts else "{"
        parts += [
            nw.lit(f"{before}'{field.name}': "),
            value.struct.field(field.name).cast(nw.String),
        ]
    return nw.concat_str(*parts, nw.lit("}"))
