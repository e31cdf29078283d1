"""DuckDB's batch pipeline: the whole file at once, the last row a key, written to Lance.

Keeps everything in memory, no versions, nothing that a second file could build upon; the result
is not synced.
"""

import lance
import pyarrow.compute as pc

from peers import envelopes


def run(path, columns, out):
    connection = envelopes.connect()
    events = envelopes.events_query(path, columns)
    last = envelopes.last_rows(connection, events, columns)
    live = last.filter(pc.not_equal(last["op"], "d")).drop_columns(["op"])
    lance.write_dataset(live, out)


def read(out):
    return lance.dataset(out).to_table(columns=["id", "qty"])
