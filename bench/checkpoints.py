"""Compares the cost of one checkpoint with merge and delete of the same number of rows.

    checkpoints.py --build FOLDER [--rows 1000000,10000000] [--changes N] [--rounds N]
                   [--scratch FOLDER] [--keep] [--docs]

For each size of the table: Lastword's checkpoint (synced, with its versions, tombstones and
positions), pylance's merge_insert + delete with and without a BTREE index on the key, and delta-rs'
MERGE, in turns; none of the others syncs or keeps versions. What one leaves to be written is on the
disk before the next begins: only Lastword would wait for it. Opening is compared with pylance's
scan of the key column, without and with the addresses of its rows. Rows are checked by count.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

import lance
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import report
from peers import delta_merge, lance_merge

TRIES = 5


class Lastword:
    """The process that holds the table open and commits when told to."""

    def __init__(self, options, rows, uri):
        command = [options.build / "bench/checkpoint_cost", uri, str(rows), str(options.changes)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.open_seconds = json.loads(self.process.stdout.readline())["open_seconds"]

    def __call__(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        cost = json.loads(self.process.stdout.readline())
        return cost["apply_ms"] + cost["commit_ms"], cost["bytes_written"]

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit("checkpoint_cost failed")


def batch(options, rows):
    """Random keys as peers take them: upserts, deleted keys."""
    ids = random.sample(range(rows), options.changes)
    deleted = pa.array(ids[: options.changes // 10], pa.int64())
    upserts = pa.table({"id": pa.array(ids[options.changes // 10 :], pa.int64())})
    payload = [f"payload of key {id}, {'x' * 80}" for id in upserts["id"].to_pylist()]
    return upserts.append_column("payload", pa.array(payload)), deleted


def lance_peer(options, rows, dataset):
    def run():
        upserts, deleted = batch(options, rows)
        begin = time.perf_counter()
        lance_merge.apply_batch(dataset, upserts, deleted)
        return (time.perf_counter() - begin) * 1e3, None

    return run


def delta_peer(options, rows, table):
    def run():
        upserts, deleted = batch(options, rows)
        op = pa.array(["u"] * len(upserts) + ["d"] * len(deleted))
        gone = pa.table({"id": deleted, "payload": pa.nulls(len(deleted), pa.string())})
        source = pa.concat_tables([upserts, gone]).append_column("op", op)
        begin = time.perf_counter()
        delta_merge.merge(table, source)
        return (time.perf_counter() - begin) * 1e3, None

    return run


def turn(run):
    os.sync()
    return run()


def key_scan_seconds(uri, with_addresses):
    """The fastest of some scans of the key column: the file is in the system's cache, as it is for
    the opening. An index cannot be built without addresses, so both ways are told."""

    def once():
        begin = time.perf_counter()
        lance.dataset(uri).to_table(columns=["id"], with_row_address=with_addresses)
        return time.perf_counter() - begin

    return min(once() for _ in range(TRIES))


def opened_again_seconds(options, rows, uri):
    """The fastest of some openings, each by a process of its own; the first one behind a load waits
    for the system's memory."""

    def once():
        lastword = Lastword(options, rows, uri)
        lastword.close()
        return lastword.open_seconds

    return min(once() for _ in range(TRIES))


def measure(options, rows):
    ours, plain, indexed, delta = (
        str(options.scratch / name)
        for name in ("ours.lance", "plain.lance", "btree.lance", "delta")
    )
    Lastword(options, rows, ours).close()  # the load
    scan, address_scan = (
        key_scan_seconds(ours, with_addresses) for with_addresses in (False, True)
    )
    content = lance.dataset(ours).to_table(columns=["id", "payload"])
    datasets = {uri: lance.write_dataset(content, uri) for uri in (plain, indexed)}
    datasets[indexed].create_scalar_index("id", "BTREE")
    write_deltalake(delta, content)
    del content
    first = Lastword(options, rows, ours)
    first.close()
    again = opened_again_seconds(options, rows, ours)
    lastword = Lastword(options, rows, ours)
    engines = {
        "lastword": lastword,
        "pylance": lance_peer(options, rows, datasets[plain]),
        "pylance-btree": lance_peer(options, rows, datasets[indexed]),
        "delta-rs": delta_peer(options, rows, DeltaTable(delta)),
    }
    rounds = [{name: turn(run) for name, run in engines.items()} for _ in range(options.rounds)]
    lastword.close()
    deleted = {rows - lance.dataset(uri).count_rows() for uri in datasets}
    if max(deleted) > options.changes // 10 * options.rounds:
        raise SystemExit(f"rows are missing: {deleted}")
    result = {
        "open_seconds": first.open_seconds,
        "open_again_seconds": again,
        "key_scan_seconds": scan,
        "key_address_scan_seconds": address_scan,
        "bytes_written": statistics.median(done["lastword"][1] for done in rounds),
        "engines": {},
    }
    for name in engines:
        ratios = [done[name][0] / done["lastword"][0] for done in rounds]
        result["engines"][name] = {
            "ms": statistics.median(done[name][0] for done in rounds),
            "lastword_is": statistics.median(ratios),
            "lastword_is_min": min(ratios),
            "lastword_is_max": max(ratios),
        }
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rows", default="1000000,10000000")
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    before = report.previous("checkpoints")
    results = {}
    for rows in options.rows.split(","):
        shutil.rmtree(options.scratch, ignore_errors=True)
        options.scratch.mkdir(parents=True)
        results[rows] = measure(options, int(rows))
        print(report.checkpoint_table(rows, results[rows], before.get(rows)), flush=True)
    shutil.rmtree(options.scratch)
    if options.keep:
        report.keep("checkpoints", results)
    if options.docs:
        report.write_docs("checkpoints", report.checkpoint_docs(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
