"""A made-up stream of three tables, and what each table must hold behind any line of it.

Lines are Kafka records with Debezium PostgreSQL values: inserts, updates, updates with an
unavailable column, deletes with
their null-value record, key changes as one record or as two in different partitions, truncates,
late copies of older records,
records that cannot be read (kept as dead letters), a column that appears half-way, and a third
table whose columns are
discovered. The truth is written down while the stream is made, so nothing of the program is
repeated here.
"""

import json
import random

PLACEHOLDER = "__debezium_unavailable_value"
TABLES = ("orders", "items", "notes")


class Workload:
    def __init__(self, seed, changes):
        self.random = random.Random(seed)
        self.lines = []  # bytes, newline included
        self.steps = []  # per line: (table, [(id, row or None)] or "truncate") or None
        self.bad = []  # (table, lines up to and with it) of each unreadable record
        self.rows = {table: {} for table in TABLES}
        self.offsets = {}
        self.lsn = 1000
        self.commit = 900
        self.text = 0
        self.changes = changes
        while len(self.lines) < changes:
            self.transaction()

    # The stream

    def source(self, table, snapshot="false"):
        return {
            "connector": "postgresql",
            "name": "crash",
            "snapshot": snapshot,
            "db": "app",
            "schema": "public",
            "table": table,
            "sequence": json.dumps([str(self.commit), str(self.lsn)]),
            "lsn": self.lsn,
            "txId": self.commit,
        }

    def emit(self, table, key, value, step, partition, headers=None, raw=None):
        topic = f"crash.public.{table}"
        offset = self.offsets.get((topic, partition), 0)
        self.offsets[topic, partition] = offset + 1
        record = {
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "key": key,
            "value": value,
        }
        if headers:
            record["headers"] = [[name, json.dumps(other)] for name, other in headers.items()]
        line = raw(record) if raw else json.dumps(record, separators=(",", ":"))
        self.lines.append(line.encode() + b"\n")
        self.steps.append((table, step) if step is not None else None)
        return record

    def image(self, table, id, row, hidden=False):
        image = {"id": id, "n": row["n"], "doc": PLACEHOLDER if hidden else row["doc"]}
        if "extra" in row:
            image["extra"] = row["extra"]
        return image

    def new_row(self, table):
        self.text += 1
        row = {
            "n": self.random.randrange(1 << 40),
            "doc": f"text {self.text} " + "x" * self.random.randrange(200),
        }
        if table == "notes" and len(self.lines) > self.changes * 2 // 5:
            row["extra"] = f"extra {self.text}"
        return row

    def transaction(self):
        self.commit = self.lsn
        for _ in range(self.random.randrange(1, 5)):
            self.lsn += self.random.randrange(1, 50)
            self.change(self.random.choice(TABLES))

    def change(self, table):
        rows, pick = self.rows[table], self.random.random()
        live = self.random.choice(sorted(rows)) if rows else None
        if pick < 0.004:
            rows.clear()
            self.emit(
                table,
                None,
                {"before": None, "after": None, "source": self.source(table), "op": "t"},
                "truncate",
                0,
            )
        elif pick < 0.012:
            self.unreadable(table)
        elif live is not None and pick < 0.18:
            self.delete(table, live)
        elif live is not None and pick < 0.30:
            self.change_key(table, live)
        elif live is not None and pick < 0.65:
            self.update(table, live)
        elif pick < 0.72 and self.lines:
            self.copy()
        else:
            self.insert(table)

    def insert(self, table):
        id = self.random.randrange(400)
        known = id in self.rows[table]
        row = self.new_row(table)
        self.rows[table][id] = row
        value = {
            "before": None,
            "after": self.image(table, id, row),
            "source": self.source(table),
            "op": "u" if known else "c",
        }
        self.emit(table, {"id": id}, value, [(id, row)], id % 2)

    def update(self, table, id):
        row = self.new_row(table)
        hidden = self.random.random() < 0.5
        if hidden:
            row["doc"] = self.rows[table][id]["doc"]
        self.rows[table][id] = row
        value = {
            "before": None,
            "after": self.image(table, id, row, hidden),
            "source": self.source(table),
            "op": "u",
        }
        self.emit(table, {"id": id}, value, [(id, row)], id % 2)

    def delete(self, table, id):
        del self.rows[table][id]
        value = {"before": {"id": id}, "after": None, "source": self.source(table), "op": "d"}
        self.emit(table, {"id": id}, value, [(id, None)], id % 2)
        self.emit(table, {"id": id}, None, [], id % 2)

    def change_key(self, table, id):
        new = self.random.randrange(400)
        if new in self.rows[table]:
            return
        row = dict(self.rows[table].pop(id), n=self.random.randrange(1 << 40))
        self.rows[table][new] = row
        hidden = self.random.random() < 0.6
        after = self.image(table, new, row, hidden)
        if id % 2 == new % 2 and self.random.random() < 0.5:
            value = {"before": {"id": id}, "after": after, "source": self.source(table), "op": "u"}
            self.emit(table, {"id": new}, value, [(id, None), (new, row)], new % 2)
            return
        halves = [
            lambda: self.emit(
                table,
                {"id": id},
                {"before": {"id": id}, "after": None, "source": self.source(table), "op": "d"},
                [(id, None)],
                id % 2,
                {"__debezium.newkey": {"id": new}},
            ),
            lambda: self.emit(
                table,
                {"id": new},
                {"before": None, "after": after, "source": self.source(table), "op": "c"},
                [(new, row)],
                new % 2,
                {"__debezium.oldkey": {"id": id}},
            ),
        ]
        for half in halves:
            half()

    def copy(self):
        """A record that comes again later under another offset: it says nothing new."""
        at = self.random.randrange(len(self.lines))
        record = json.loads(self.lines[at]) if self.steps[at] is not None else {}
        if not record.get("value") or self.steps[at][1] == "truncate" or "headers" in record:
            return
        if any(end == at + 1 for _, end in self.bad):
            return
        # A copied delete would make the partition expect its null-value record; a copied key
        # change its other half.
        if record["value"]["op"] == "d" or record["value"]["before"]:
            return
        self.emit(self.steps[at][0], record["key"], record["value"], [], record["partition"])

    def unreadable(self, table):
        """Of a key of its own, so that no good record is held back behind it."""
        if not self.rows[table]:
            return  # with discovered columns it might be the first, and no error
        id = 1000 + len(self.lines)
        after = {"id": id, "n": "not a number", "doc": "x"}
        value = {"before": None, "after": after, "source": self.source(table), "op": "c"}
        self.emit(table, {"id": id}, value, [], id % 2)
        self.bad.append((table, len(self.lines)))

    # The truth

    def dead_letters_at(self, table, count):
        return sum(1 for name, end in self.bad if name == table and end <= count)

    def table_at(self, table, count):
        """The rows of `table` behind the first `count` lines."""
        rows = {}
        for step in self.steps[:count]:
            if step is None or step[0] != table:
                continue
            if step[1] == "truncate":
                rows.clear()
                continue
            for id, row in step[1]:
                if row is None:
                    rows.pop(id, None)
                else:
                    rows[id] = row
        return rows

    def configuration(self, sink, events, durability, fragments):
        columns = [
            {"name": "id", "type": "int64"},
            {"name": "n", "type": "int64"},
            {"name": "doc", "type": "string"},
        ]
        tables = [
            {"name": name, "primary_key": ["id"], "on_bad_record": "dead_letter"} for name in TABLES
        ]
        for table in tables:
            if table["name"] == "notes":
                table["schema_evolution"] = "evolve"  # its columns are discovered
            else:
                table["columns"] = columns
            if table["name"] == "orders":
                table["indexes"] = [{"column": "n", "type": "btree"}]
        return {
            "pipeline": "crash",
            "source": {"kind": "file", "format": "records", "path": [events]},
            # Low limits, so that compaction and clean-up run all the time.
            "sink": {
                "uri": sink,
                "durability": durability,
                "compaction_fragments": fragments,
                "keep_versions": 4,
                "keep_for": "0s",
                "keep_ratio": 0,
            },
            "tables": tables,
        }
