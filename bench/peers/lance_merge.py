"""pylance, batch by batch: merge_insert of the last rows and a delete of the deleted keys.

Every 200,000 changes are one batch, as Lastword's checkpoints are; versions are not kept, so a late
event would win. `index` puts a BTREE on the key behind the first batch.
"""

import lance
import pyarrow as pa
import pyarrow.compute as pc

from peers import envelopes

BATCH = 200_000


def apply_batch(dataset, upserts, deleted):
    merge = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(upserts)
    if len(deleted):
        dataset.delete("id IN (" + ", ".join(map(str, deleted.to_pylist())) + ")")


def run(path, columns, out, index=False):
    connection = envelopes.connect()
    events = envelopes.events_query(
        path, columns, f", (row_number() OVER () - 1) // {BATCH} AS batch"
    )
    connection.sql(f"CREATE TEMP TABLE events AS {events}")
    batches = connection.sql("SELECT max(batch) + 1 FROM events").fetchall()[0][0]
    dataset = None
    for batch in range(batches):
        last = envelopes.last_rows(connection, "FROM events", columns, batch)
        live = pc.not_equal(last["op"], "d")
        upserts = last.filter(live).drop_columns(["op"])
        if dataset is None:
            dataset = lance.write_dataset(upserts, out)
            if index:
                dataset.create_scalar_index("id", "BTREE")
            continue
        apply_batch(dataset, upserts, last.filter(pc.invert(live))["id"])


def run_indexed(path, columns, out):
    run(path, columns, out, index=True)


def read(out):
    return lance.dataset(out).to_table(columns=["id", "qty"])
