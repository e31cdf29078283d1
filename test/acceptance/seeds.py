#!/usr/bin/env python3
"""The two texts that started the project, as tests of the real program.

A changelog whose deletes must not get lost inside a checkpoint, and a deleted key whose version
must not be forgotten. Every table is read back with pylance, every Lance version validated. Prints
'N passed, N failed' last.

    seeds.py --lastword build/release/lastword --scratch FOLDER
"""

import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import lance

from suite import ARGS, main, test


class Table:
    """One table of the program in a folder of its own; every call is a process of its own."""

    def __init__(self, name, columns, key, fmt, **options):
        self.folder = pathlib.Path(ARGS.scratch) / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.uri = self.folder / "t.lance"
        self.key = key
        entry = {
            "name": "t",
            "primary_key": key,
            "columns": [{"name": n, "type": t} for n, t in columns.items()],
        }
        config = {
            "pipeline": name,
            "source": {"kind": "file", "format": fmt},
            "sink": {"uri": str(self.folder)},
            "tables": [{**entry, **options}],
        }
        self.config = self.folder / "config.yaml"
        self.config.write_text(json.dumps(config))
        self.count = 0

    def run(self, events, *args, expect=0, kill=None):
        self.count += 1
        path = self.folder / f"events{self.count}.ndjson"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        environment = {**os.environ, "LASTWORD_KILL_POINT": kill} if kill else None
        done = subprocess.run(
            [ARGS.lastword, "apply", str(path), "--config", str(self.config), "--json", *args],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
        )
        assert done.returncode == expect, f"exit {done.returncode}: {done.stderr}"
        return json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {}

    def outcomes(self, events, *args):
        path = self.folder / "outcomes.ndjson"
        self.run(events, "--outcomes", str(path), *args)
        return [json.loads(line)["outcome"] for line in path.read_text().splitlines()]

    def rows(self):
        dataset = lance.dataset(str(self.uri))
        for version in dataset.versions():
            lance.dataset(str(self.uri), version=version["version"]).validate()
        fields = [
            f
            for f in dataset.schema
            if f.metadata and b"lance-schema:unenforced-primary-key" in f.metadata
        ]
        assert [f.name for f in fields] == self.key, "the primary key is Lance metadata"
        rows = [
            {k: v for k, v in row.items() if not k.startswith("_lw_")}
            for row in dataset.to_table().to_pylist()
        ]
        assert dataset.count_rows() == len(rows)
        return rows

    def version(self):
        return lance.dataset(str(self.uri)).version

    def explain(self, key, *args):
        done = subprocess.run(
            [ARGS.lastword, "explain", str(self.uri), key, "--json", *args],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr


def changelog(name, **options):
    return Table(name, {"k": "int64", "v": "string"}, ["k"], "changelog", **options)


def event(kind, key, value=None):
    return {"kind": kind, "row": {"k": key, "v": value}}


def final(rows):
    return {row["k"]: row["v"] for row in rows}


SEED = [event("+I", 7, "seed"), event("+I", 8, "other")]
# Events of key 7 in one checkpoint, and what is left of it; None = absent.
MATRIX = {
    "+I -D": ([event("+I", 7, "a"), event("-D", 7, "a")], None),
    "-D +I": ([event("-D", 7, "a"), event("+I", 7, "b")], "b"),
    "+U +U": ([event("+U", 7, "1"), event("+U", 7, "2")], "2"),
    "+U -D": ([event("+U", 7, "1"), event("-D", 7, "1")], None),
    "-D +U": ([event("-D", 7, "a"), event("+U", 7, "b")], "b"),
    "-U +U": ([event("-U", 7, "a"), event("+U", 7, "b")], "b"),
    "+I": ([event("+I", 7, "a")], "a"),
    "+U": ([event("+U", 7, "a")], "a"),
    "-D": ([event("-D", 7, "a")], None),
    "+I -U +U -D +I": (
        [
            event("+I", 7, "a"),
            event("-U", 7, "a"),
            event("+U", 7, "b"),
            event("-D", 7, "b"),
            event("+I", 7, "c"),
        ],
        "c",
    ),
}


@test
def reduction_matrix_on_an_empty_and_on_a_seeded_table():
    for name, (events, left) in MATRIX.items():
        for seeded in (False, True):
            table = changelog(f"matrix-{name.replace(' ', '')}-{seeded}")
            expected = {}
            if seeded:
                table.run(SEED)
                expected = {8: "other"}
            table.run(events)
            if left is not None:
                expected[7] = left
            assert final(table.rows()) == expected, f"{name}, seeded: {seeded}: {table.rows()}"


@test
def disjoint_keys():
    for seeded in (False, True):
        table = changelog(f"disjoint-{seeded}")
        if seeded:
            table.run(SEED)
        table.run([event("-D", 7), event("+I", 9, "new")])
        assert final(table.rows()) == ({8: "other", 9: "new"} if seeded else {9: "new"})


@test
def lone_update_before_by_each_policy():
    for policy, left in (("delete", {8: "other"}), ("drop", {7: "seed", 8: "other"})):
        table = changelog(f"lone-{policy}", lone_update_before=policy)
        table.run(SEED)
        table.run([event("-U", 7, "seed")])
        assert final(table.rows()) == left, policy
    table = changelog("lone-fail", lone_update_before="fail")
    table.run(SEED)
    said = table.run([event("-U", 7, "seed")], expect=3)
    assert said["error"]["kind"] == "invalid_operation", said
    assert final(table.rows()) == {7: "seed", 8: "other"}


@test
def the_same_checkpoint_again_changes_nothing():
    table = changelog("replay")
    table.run(
        [event("+I", 1, "a"), event("+I", 2, "b"), event("-D", 2)], "--checkpoint-id", "job-1"
    )
    before = table.version()
    said = table.run(
        [event("+I", 1, "a"), event("+I", 2, "b"), event("-D", 2)], "--checkpoint-id", "job-1"
    )
    assert said["already_committed"] is True, said
    assert table.version() == before
    assert final(table.rows()) == {1: "a"}


def merchant(name, **options):
    return Table(name, {"key": "string", "value": "int64"}, ["key"], "sequenced", **options)


def change(seq, op, value=None, key="merchant-7"):
    record = {"seq": seq, "key": key, "op": op}
    return {**record, "value": value} if value is not None else record


CHANGES = [change(1, "upsert", 10), change(2, "upsert", 20), change(3, "delete")]


@test
def versions_1_3_2_leave_nothing_in_one_process_and_in_three():
    table = merchant("arrival")
    assert table.outcomes([CHANGES[0], CHANGES[2], CHANGES[1]]) == ["applied", "applied", "stale"]
    assert table.rows() == []
    table = merchant("arrival-processes")
    outcomes = [table.outcomes([CHANGES[i]])[0] for i in (0, 2, 1)]
    assert outcomes == ["applied", "applied", "stale"], outcomes
    assert table.rows() == []


@test
def six_orders_end_at_the_deletion_marker():
    for order in itertools.permutations(range(3)):
        for restarts in (False, True):
            table = merchant("order-" + "".join(map(str, order)) + str(restarts))
            if restarts:
                for i in order:
                    table.run([CHANGES[i]])
            else:
                table.run([CHANGES[i] for i in order], "--checkpoint-every", "1")
            assert table.rows() == [], order
            code, said = table.explain("merchant-7")
            assert code == 0 and "deleted" in said, said


@test
def repeat_conflict_unknown_delete_and_a_newer_upsert():
    table = merchant("rest")
    table.run([CHANGES[0], CHANGES[2]])
    assert table.outcomes([CHANGES[2]]) == ["repeat"]
    said = table.run([change(3, "upsert", 999)], expect=3)
    assert (
        said["error"]["kind"] == "version_conflict" and said["error"]["key"] == "merchant-7"
    ), said
    assert table.rows() == []
    table.run([change(4, "upsert", 30)])
    assert table.rows() == [{"key": "merchant-7", "value": 30}]
    unknown = merchant("unknown")
    assert unknown.outcomes([CHANGES[2]]) == ["applied"]
    assert unknown.outcomes([CHANGES[1]]) == ["stale"]
    assert unknown.rows() == []


@test
def sort_by_seq_then_apply_gives_what_every_delivery_gives():
    events = [
        change(s, op, v, key)
        for s, op, v, key in [
            (1, "upsert", 1, "a"),
            (2, "upsert", 2, "b"),
            (3, "delete", None, "a"),
            (4, "upsert", 4, "a"),
            (5, "delete", None, "b"),
        ]
    ]
    finite = {}
    for record in sorted(events, key=lambda r: r["seq"]):
        finite.pop(record["key"], None)
        if record["op"] == "upsert":
            finite[record["key"]] = record["value"]
    for number, order in enumerate(itertools.islice(itertools.permutations(events), 0, 120, 7)):
        table = merchant(f"finite-{number}")
        table.run(list(order), "--checkpoint-every", "2")
        assert {row["key"]: row["value"] for row in table.rows()} == finite


@test
def an_unknown_operation_or_a_delete_with_a_value_applies_nothing():
    for name, bad in (
        ("op", {"seq": 2, "key": "x", "op": "refund", "value": 1}),
        ("value", {"seq": 2, "key": "x", "op": "delete", "value": 1}),
    ):
        table = merchant(f"invalid-{name}")
        said = table.run([change(1, "upsert", 1, "x"), bad, change(3, "upsert", 3, "x")], expect=3)
        assert said["error"]["kind"] == "invalid_operation" and said["error"]["line"] == 2, said
        assert table.rows() == [{"key": "x", "value": 1}]


@test
def without_its_ledger_the_table_does_not_open():
    table = merchant("ledger")
    table.run([CHANGES[0], CHANGES[2]])
    shutil.rmtree(f"{table.uri}.lastword/ledger.lance")
    said = table.run([CHANGES[1]], expect=5)
    assert said["error"]["kind"] == "ledger_missing", said
    assert table.rows() == []


@test
def killed_around_the_two_commits_of_a_checkpoint():
    for point, rows in (
        ("commit.after_ledger", [{"key": "merchant-7", "value": 10}]),
        ("commit.after_visible", []),
    ):
        table = merchant(f"kill-{point}")
        table.run([CHANGES[0]])
        table.run([CHANGES[2]], expect=-signal.SIGKILL, kill=point)
        assert table.rows() == rows, f"{point}: one of the two states"
        table.run([CHANGES[2]])
        assert table.outcomes([CHANGES[1]]) == ["stale"]
        assert table.rows() == []


if __name__ == "__main__":
    sys.exit(main(__doc__))
