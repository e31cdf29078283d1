"""What every peer does first: DuckDB reads Debezium envelopes and keeps the last row of each key.

"Last" is by the position in the log, as the workloads hold late and repeated events. Never touches
a table: that is the peer's part.
"""

import duckdb

DUCKDB_TYPES = {"int64": "BIGINT", "string": "VARCHAR"}


def duckdb_type(name):
    return DUCKDB_TYPES.get(name, name.upper())


def connect():
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = true")
    return connection


def events_query(path, columns, extra=""):
    """SQL for one row an event: key k, order v, op, row r; `extra` adds columns."""
    row = ", ".join(f"{c['name']} {duckdb_type(c['type'])}" for c in columns)
    return f"""
        SELECT coalesce(after.id, before.id) AS k,
               source.lsn * 2 + (op <> 'd')::BIGINT AS v, op, after AS r {extra}
        FROM read_json('{path}', format = 'newline_delimited', columns = {{
            before: 'STRUCT(id BIGINT)', after: 'STRUCT({row})',
            source: 'STRUCT(lsn BIGINT)', op: 'VARCHAR'}})"""


def last_rows(connection, events, columns, batch=None):
    """Arrow table of the last event of each key in `events` (SQL), deletes with op 'd'."""
    fields = ", ".join(
        "coalesce(last.r.id, k) AS id" if c["name"] == "id" else f"last.r.{c['name']}"
        for c in columns
    )
    where = "" if batch is None else f"WHERE batch = {batch}"
    return connection.sql(f"""
        SELECT last.op AS op, {fields} FROM (
            SELECT k, arg_max({{'op': op, 'r': r}}, v) AS last FROM ({events}) {where} GROUP BY k)
        """).to_arrow_table()
