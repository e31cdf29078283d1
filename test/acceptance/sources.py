#!/usr/bin/env python3
"""Several source tables in one table: each has its own truncates, snapshots and floor.

Runs the real program over Debezium events and reads the table with pylance. Prints 'N passed, N
failed' last.

    sources.py --lastword build/release/lastword --scratch FOLDER
"""

import json
import pathlib
import shutil
import subprocess
import sys

import lance

from suite import ARGS, main, test


def postgres(op, table, position, row, schema="public", snapshot="false"):
    image = {"before": row} if op == "d" else {"after": row}
    return {
        "op": op,
        **({} if op == "t" else image),
        "source": {
            "connector": "postgresql",
            "db": "shop",
            "schema": schema,
            "table": table,
            "snapshot": snapshot,
            "sequence": json.dumps([str(position), str(position + 1)]),
            "lsn": position + 1,
        },
    }


def mysql(op, db, position, row):
    event = postgres(op, "orders", position, row)
    event["source"] = {
        "connector": "mysql",
        "db": db,
        "table": "orders",
        "file": "bin.000001",
        "pos": position,
        "row": 0,
    }
    return event


class Lake:
    """One table `orders` that several source tables feed; its key says which where `origin` is."""

    def __init__(self, name, sources, origin=None, **more):
        self.folder = pathlib.Path(ARGS.scratch) / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.uri = str(self.folder / "orders.lance")
        columns = [{"name": "id", "type": "int64"}, {"name": "v", "type": "string"}]
        if origin:
            columns.insert(0, {"name": "src", "type": "string", "from": origin})
        self.config = self.folder / "pipeline.yaml"
        table = {
            "name": "orders",
            "source": sources,
            "primary_key": ["src", "id"] if origin else ["id"],
            "columns": columns,
            **more,
        }
        self.config.write_text(
            json.dumps(
                {
                    "pipeline": name,
                    "source": {"kind": "file", "path": ["-"], "format": "debezium"},
                    "sink": {"uri": str(self.folder)},
                    "tables": [table],
                }
            )
        )

    def run(self, *args, text=""):
        return subprocess.run(
            [ARGS.lastword, *args], input=text, capture_output=True, text=True, timeout=120
        )

    def apply(self, events, expect=0):
        text = "".join(json.dumps(event) + "\n" for event in events)
        done = self.run("apply", "-", "--config", str(self.config), "--json", text=text)
        assert done.returncode == expect, f"exit {done.returncode}: {done.stderr}"
        return json.loads(done.stdout.strip().splitlines()[-1])

    def rows(self):
        dataset = lance.dataset(self.uri)
        dataset.validate()
        names = [n for n in ("src", "id", "v") if n in dataset.schema.names]
        rows = [tuple(row[n] for n in names) for row in dataset.to_table(columns=names).to_pylist()]
        assert len(set(rows)) == len(rows), rows
        return sorted(rows)

    def status(self):
        done = self.run("status", self.uri, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    def explain(self, key, version):
        done = self.run("explain", self.uri, json.dumps(key), "--version", version, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])


def filled(name, cut):
    """Two months of one table, with one run for each event or for all."""
    lake = Lake(name, ["orders_01", "orders_02"], origin="source.table")
    events = [
        postgres("c", "orders_01", 10, {"id": 1, "v": "a"}),
        postgres("c", "orders_02", 20, {"id": 1, "v": "b"}),
        postgres("d", "orders_02", 25, {"id": 2}),
        postgres("d", "orders_01", 26, {"id": 2}),
        postgres("c", "orders_01", 90, {"id": 3, "v": "above"}),
        postgres("t", "orders_01", 50, None),
        postgres("c", "orders_01", 30, {"id": 4, "v": "late"}),
        postgres("c", "orders_02", 30, {"id": 4, "v": "in time"}),
    ]
    stale = 0
    for part in [[event] for event in events] if cut else [events]:
        stale += lake.apply(part)["below_floor"]
    assert stale == 1, stale
    return lake


@test
def a_truncate_is_of_its_own_source():
    for cut in (False, True):
        lake = filled(f"truncate-{cut}", cut)
        assert lake.rows() == [
            ("orders_01", 3, "above"),
            ("orders_02", 1, "b"),
            ("orders_02", 4, "in time"),
        ], lake.rows()
        status = lake.status()
        assert status["floors"] == {"src=orders_01": "0/50/51/1"}, status["floors"]
        assert status["tombstones"] == 1, status


@test
def explain_knows_the_floor_of_the_keys_source():
    lake = filled("explain", False)
    below = lake.explain(["orders_01", 7], "0/40/0/0")
    assert (below["state"], below["would_be"]) == ("below floor", "stale"), below
    other = lake.explain(["orders_02", 7], "0/40/0/0")
    assert (other["state"], other["would_be"]) == ("unknown", "applied"), other


@test
def clean_up_raises_the_floor_of_all():
    lake = filled("gc", False)
    done = lake.run("gc", lake.uri, "--boundary", "0/60/0/0")
    assert done.returncode == 0, done.stderr
    late = [postgres("c", f"orders_0{i}", 55, {"id": 9, "v": "late"}) for i in (1, 2)]
    assert lake.apply(late)["below_floor"] == 2
    assert len(lake.rows()) == 3


@test
def a_snapshot_replaces_rows_of_its_own_source():
    lake = Lake("snapshot", ["orders_01", "orders_02"], "source.table", on_resnapshot="replace")
    lake.apply(
        [
            postgres("c", "orders_01", 10, {"id": 1, "v": "gone"}),
            postgres("c", "orders_02", 10, {"id": 1, "v": "stays"}),
        ]
    )
    lake.apply(
        [
            postgres("r", "orders_01", 100, {"id": 2, "v": "read"}, snapshot="true"),
            postgres(
                "r", "orders_01", 100, {"id": 3, "v": "read"}, snapshot="last_in_data_collection"
            ),
        ]
    )
    assert lake.rows() == [
        ("orders_01", 2, "read"),
        ("orders_01", 3, "read"),
        ("orders_02", 1, "stays"),
    ], lake.rows()


@test
def databases_without_schemas_are_told_apart_by_their_name():
    lake = Lake("mysql", ["eu.orders", "us.orders"], origin="source.db")
    lake.apply(
        [
            mysql("c", "eu", 10, {"id": 1, "v": "a"}),
            mysql("c", "us", 10, {"id": 1, "v": "b"}),
            mysql("t", "eu", 50, None),
            mysql("c", "us", 30, {"id": 2, "v": "c"}),
        ]
    )
    assert lake.rows() == [("us", 1, "b"), ("us", 2, "c")], lake.rows()


@test
def rows_that_cannot_be_told_apart_stop_the_run():
    for name, origin in (("no-origin", None), ("same-database", "source.db")):
        lake = Lake(name, ["public.orders", "audit.orders"], origin)
        said = lake.apply(
            [
                postgres("c", "orders", 10, {"id": 1, "v": "a"}),
                postgres("t", "orders", 50, None, schema="audit"),
            ],
            expect=3,
        )["error"]
        assert said["kind"] == "unsupported_op", said
        assert [row[-1] for row in lake.rows()] == ["a"]


if __name__ == "__main__":
    sys.exit(main(__doc__))
