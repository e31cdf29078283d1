"""delta-rs, batch by batch: one MERGE with its delete, update and insert clauses."""

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from peers import envelopes
from peers.lance_merge import BATCH


def merge(table, source):
    columns = [name for name in source.column_names if name != "op"]
    values = {name: f"s.{name}" for name in columns}
    (
        table.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
        .when_matched_delete("s.op = 'd'")
        .when_matched_update(values)
        .when_not_matched_insert(values, "s.op <> 'd'")
        .execute()
    )


def run(path, columns, out):
    connection = envelopes.connect()
    events = envelopes.events_query(
        path, columns, f", (row_number() OVER () - 1) // {BATCH} AS batch"
    )
    connection.sql(f"CREATE TEMP TABLE events AS {events}")
    batches = connection.sql("SELECT max(batch) + 1 FROM events").fetchall()[0][0]
    for batch in range(batches):
        last = envelopes.last_rows(connection, "FROM events", columns, batch)
        if batch == 0:
            write_deltalake(out, last.schema.remove(0).empty_table())
            table = DeltaTable(out)
        merge(table, last)


def read(out):
    return DeltaTable(out).to_pyarrow_table(columns=["id", "qty"])
