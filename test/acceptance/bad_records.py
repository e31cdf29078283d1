#!/usr/bin/env python3
"""One bad record of each kind between two good ones, through the real program.

Each must end with exit code 3, its kind, a message that says what to do, and its place; the row in
front of it is committed, the one behind it is not, and a second run stops there again. Prints
'N passed, N failed' last.

    bad_records.py --lastword build/release/lastword --scratch FOLDER
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

import lance

COLUMNS = {
    "id": "int64",
    "v": "string",
    "n": "int16",
    "d": "decimal(6,2)",
    "l": "list<int32>",
    "t": "timestamptz_us",
}


def envelope(row, lsn, op="c", before=None, **more):
    source = {"connector": "postgresql", "name": "s", "snapshot": "false", "schema": "public"}
    source |= {"table": "t", "lsn": lsn, "sequence": f'["{lsn - 5}","{lsn}"]', **more}
    return {"before": before, "after": row, "source": source, "op": op, "ts_ms": 1}


def record(value, key=None, offset=1):
    return {"key": key, "value": value, "partition": 0, "offset": offset}


def debezium(row, op="c", before=None, key=None, **more):
    return json.dumps(record(envelope(row, 200, op, before, **more), key or {"id": 2}))


SEQUENCED = {"columns": {"key": "string", "value": "int64"}, "key": ["key"], "format": "sequenced"}
# name: (kind, the bad line, options)
CASES = {
    "bare token": ("bad_json", debezium({"id": 2, "n": math.nan}), {}),
    "cut short": ("bad_json", '{"key":{"id":2},"value":{"bef', {}),
    "invalid UTF-8": (
        "bad_json",
        b'{"key":{"id":2},"value":"\xff\xfe","partition":0,"offset":1}',
        {},
    ),
    "no op": (
        "bad_envelope",
        json.dumps(record({"after": {"id": 2}, "source": {"table": "t"}})),
        {},
    ),
    "no key column": ("missing_key", debezium({"v": "x"}, key={"other": 1}), {}),
    "null key": ("null_in_key", debezium({"id": None, "v": "x"}, key={"id": None}), {}),
    "key twice": (
        "ambiguous_key",
        debezium({"id": 2, "v": "x"}).replace('"after": {"id": 2', '"after": {"id": 3, "id": 2'),
        {},
    ),
    "placeholder in the key": (
        "unavailable_key",
        debezium({"id": "__debezium_unavailable_value", "v": "x"}, "u", key={"id": None}),
        {"columns": {"id": "string", "v": "string"}},
    ),
    "placeholder without a row": (
        "unavailable_without_base",
        debezium({"id": 2, "v": "__debezium_unavailable_value"}, "u"),
        {},
    ),
    "text in an integer": ("type_mismatch", debezium({"id": 2, "n": "abc"}), {}),
    "object in a list": ("type_mismatch", debezium({"id": 2, "l": {"a": 1}}), {}),
    "beyond int16": ("out_of_range", debezium({"id": 2, "n": 40000}), {}),
    "infinite time": ("out_of_range", debezium({"id": 2, "t": "infinity"}), {}),
    "NaN decimal": (
        "not_finite_decimal",
        debezium({"id": 2, "d": "NAN"}),
        {"decimal_encoding": "string"},
    ),
    "too many digits": (
        "decimal_overflow",
        debezium({"id": 2, "d": "12345.67"}),
        {"decimal_encoding": "string"},
    ),
    "unknown op": ("unsupported_op", debezium({"id": 2}, "z"), {}),
    "unknown table": ("unrouted_table", debezium({"id": 2}, table="elsewhere"), {}),
    "reserved column": (
        "reserved_column",
        debezium({"id": 2, "_rowid": 1}),
        {"schema_evolution": "evolve"},
    ),
    "unknown column": ("schema_incompatible", debezium({"id": 2, "new": 1}), {}),
    "no position": (
        "no_version",
        json.dumps(
            record({"after": {"id": 2}, "op": "c", "source": {"table": "t", "connector": "x"}})
        ),
        {},
    ),
    "conflict": ("version_conflict", json.dumps(record(envelope({"id": 1, "v": "z"}, 100))), {}),
    "refund": ("invalid_operation", '{"seq":2,"key":"x","op":"refund","value":1}', SEQUENCED),
    "delete with a value": (
        "invalid_operation",
        '{"seq":2,"key":"x","op":"delete","value":1}',
        SEQUENCED,
    ),
    "no seq": ("no_version", '{"key":"x","op":"upsert","value":1}', SEQUENCED),
}


def good(options, number):
    if options.get("format") == "sequenced":
        return {"seq": number, "key": f"k{number}", "op": "upsert", "value": number}
    key = str(number) if options.get("columns", COLUMNS)["id"] == "string" else number
    return record(envelope({"id": key, "v": "good"}, 100 * number), {"id": key}, number - 1)


def check(args, name, kind, line, options):
    folder = pathlib.Path(args.scratch) / name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    line = line if isinstance(line, bytes) else line.encode()
    lines = [json.dumps(good(options, 1)).encode(), line, json.dumps(good(options, 3)).encode()]
    (folder / "events.ndjson").write_bytes(b"\n".join(lines) + b"\n")
    columns = options.get("columns", COLUMNS)
    table = {k: v for k, v in options.items() if k not in ("columns", "key", "format")}
    table |= {"name": "t", "primary_key": options.get("key", ["id"])}
    table["columns"] = [{"name": n, "type": t} for n, t in columns.items()]
    config = {"pipeline": "bad", "sink": {"uri": str(folder)}, "tables": [table]}
    config["source"] = {"kind": "file", "format": options.get("format", "records")}
    (folder / "config.yaml").write_text(json.dumps(config))
    command = [args.lastword, "apply", str(folder / "events.ndjson")]
    command += ["--config", str(folder / "config.yaml"), "--json"]
    for attempt in ("first", "second"):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 3, f"{attempt} run: exit {done.returncode}: {done.stderr[-300:]}"
        error = json.loads(done.stdout.strip().splitlines()[-1])["error"]
        assert error["kind"] == kind, f"{attempt} run: {error}"
        assert len(error["message"]) > 20 and error["line"] == 2 and error["input"], error
        assert kind in done.stderr, done.stderr
        rows = lance.dataset(str(folder / "t.lance")).to_table().to_pylist()
        assert len(rows) == 1, f"{attempt} run: {rows}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lastword", required=True)
    parser.add_argument("--scratch", required=True)
    args = parser.parse_args()
    failed = 0
    for name, (kind, line, options) in CASES.items():
        try:
            check(args, name, kind, line, options)
        except Exception as problem:  # a failing case must not hide the others
            failed += 1
            print(f"FAILED {name} ({kind}): {problem}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
