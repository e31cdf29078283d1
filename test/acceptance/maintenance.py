#!/usr/bin/env python3
"""Compaction, old versions and indexes through the real program, read with pylance.

Many small checkpoints, then what another reader sees: rows, indexes that answer, versions that
stay, the ledger of a tagged one. Prints 'N passed, N failed' last.

    maintenance.py --lastword build/release/lastword --scratch FOLDER
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

os.environ["LANCE_INCLUDE_VECTOR_CENTROIDS"] = "false"  # says so otherwise
import lance  # noqa: E402

from suite import ARGS, main, test  # noqa: E402

WIDTH = 8


class Lake:
    """One table `t` with a number, a vector and a text, fed with sequenced changes."""

    def __init__(self, name, indexes=(), **sink):
        self.folder = pathlib.Path(ARGS.scratch) / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.uri = str(self.folder / "t.lance")
        self.random = random.Random(7)
        self.seq = 0
        self.files = 0
        self.rows = {}
        self.config = self.folder / "pipeline.yaml"
        columns = [
            {"name": "id", "type": "int64"},
            {"name": "n", "type": "int64"},
            {"name": "embedding", "type": f"vector({WIDTH})"},
        ]
        table = {
            "name": "t",
            "primary_key": ["id"],
            "sequence_columns": ["seq"],
            "columns": columns + [{"name": "seq", "type": "int64"}],
            "indexes": list(indexes),
        }
        source = {"kind": "file", "path": "unused", "format": "changelog"}
        self.config.write_text(
            json.dumps(
                {
                    "source": source,
                    "sink": {"uri": str(self.folder), "durability": "process", **sink},
                    "tables": [table],
                }
            )
        )

    def run(self, *words, expect=0):
        result = subprocess.run(
            [ARGS.lastword, *map(str, words), "--json"], capture_output=True, text=True, timeout=110
        )
        assert result.returncode == expect, f"{words}: {result.returncode} {result.stderr[-800:]}"
        return json.loads(result.stdout.splitlines()[-1])

    def apply(self, keys, every, deletes=()):
        lines = []
        for key in keys:
            self.seq += 1
            vector = [round(self.random.random(), 4) for _ in range(WIDTH)]
            row = {"id": key, "n": self.seq, "embedding": vector, "seq": self.seq}
            lines.append(json.dumps({"kind": "+U", "row": row}))
            self.rows[key] = row
        for key in deletes:
            self.seq += 1
            lines.append(json.dumps({"kind": "-D", "row": {"id": key, "seq": self.seq}}))
            del self.rows[key]
        self.files += 1
        events = self.folder / f"{self.files}.ndjson"
        events.write_text("".join(line + "\n" for line in lines))
        return self.run("apply", events, "--config", self.config, "--checkpoint-every", every)

    def check(self):
        dataset = lance.dataset(self.uri)
        dataset.validate()
        found = {row["id"]: row["n"] for row in dataset.to_table(columns=["id", "n"]).to_pylist()}
        assert found == {key: row["n"] for key, row in self.rows.items()}
        return dataset


def churn(lake, rounds=6):
    for _ in range(rounds):
        keys = lake.random.sample(sorted(lake.rows), 300)
        lake.apply(keys, 50, deletes=lake.random.sample(sorted(set(lake.rows) - set(keys)), 20))


@test
def fragments_and_versions_stay_few():
    lake = Lake("few", compaction_fragments=4, keep_versions=10, keep_for="0s", keep_ratio=0)
    lake.apply(range(2000), 500)
    churn(lake)
    dataset = lake.check()
    assert len(dataset.get_fragments()) <= 12, dataset.get_fragments()
    assert len(dataset.versions()) <= 30, len(dataset.versions())
    ledger = lance.dataset(str(lake.folder / "t.lance.lastword/ledger.lance"))
    assert len(ledger.get_fragments()) <= 12
    assert len(ledger.versions()) <= 60
    status = lake.run("status", lake.uri)
    assert status["tombstones"] == 6 * 20, status


@test
def switched_off_it_leaves_the_table_alone():
    lake = Lake("off", compaction=False, keep_versions=0)
    lake.apply(range(2000), 500)
    churn(lake, 3)
    dataset = lake.check()
    assert len(dataset.get_fragments()) >= 15
    assert len(dataset.versions()) >= 20
    said = lake.run("compact", lake.uri, "--config", lake.config)
    assert (said["after"]["fragments"], said["after"]["deleted_rows"]) == (1, 0), said
    assert said["bytes_freed"] == 0
    lake.check()
    said = lake.run("compact", lake.uri, "--keep-versions", 1)
    assert said["after"]["versions"] == 1 and said["bytes_freed"] > 0, said
    churn(lake, 1)
    lake.check()


@test
def indexes_answer_for_all_rows():
    indexes = [{"column": "n", "type": "btree"}, {"column": "embedding", "type": "ivf_pq"}]
    lake = Lake("indexes", indexes, compaction_fragments=3)
    lake.apply(range(100), 50)
    names = {index["name"] for index in lake.check().list_indices()}
    assert names == {"n_idx"}, f"too few rows for a vector index: {names}"
    lake.apply(range(6000), 3000)
    for round in range(5):
        lake.apply(lake.random.sample(range(6000), 1500), 500)
        dataset = lake.check()
        names = {index["name"] for index in dataset.list_indices()}
        assert names == {"n_idx", "embedding_idx"}, names
        for key in lake.random.sample(sorted(lake.rows), 20):
            row = lake.rows[key]
            found = dataset.to_table(filter=f"n = {row['n']}").to_pylist()
            assert [other["id"] for other in found] == [key], (round, key, found)
            query = {"column": "embedding", "q": row["embedding"], "k": 1, "refine_factor": 50}
            near = dataset.to_table(nearest=query, columns=["id", "_distance"]).to_pylist()
            assert [other["id"] for other in near] == [key], (round, key, near)
    for name in ("n_idx", "embedding_idx"):
        stats = dataset.stats.index_stats(name)
        outside = stats["num_unindexed_rows"]
        assert outside <= 4096 or outside <= 6000 * 0.3, stats
    lake.run("compact", lake.uri, "--config", lake.config)
    dataset = lake.check()
    row = lake.rows[17]
    found = dataset.to_table(filter=f"n = {row['n']}").to_pylist()
    assert [other["id"] for other in found] == [17]


@test
def a_tagged_version_stays_with_its_ledger():
    lake = Lake("tagged", compaction_fragments=2, keep_versions=2, keep_for="0s", keep_ratio=0)
    lake.apply(range(50), 10, deletes=[])
    lake.apply([], 10, deletes=[3, 4])
    dataset = lance.dataset(lake.uri)
    tagged = dataset.version
    rows = dict(lake.rows)
    dataset.tags.create("keep", tagged)
    for _ in range(8):
        lake.apply(range(5, 50), 10)
        lake.apply([3], 10)
        lake.apply([], 10, deletes=[3])
    lake.check()
    versions = [version["version"] for version in lance.dataset(lake.uri).versions()]
    assert tagged in versions and tagged + 1 not in versions, versions
    dataset = lance.dataset(lake.uri, version=tagged)
    assert dataset.count_rows() == len(rows)
    dataset.restore()
    lake.rows = rows
    lake.check()
    status = lake.run("status", lake.uri)
    assert status["tombstones"] == 2, status
    # The delete of then is known: an older change does not bring the row back.
    old = lake.folder / "old.ndjson"
    old.write_text(json.dumps({"kind": "+U", "row": {"id": 4, "n": 0, "seq": 1}}) + "\n")
    said = lake.run("apply", old, "--config", lake.config)
    assert (said["stale"], said["applied"]) == (1, 0), said
    lake.check()


if __name__ == "__main__":
    sys.exit(main(__doc__))
