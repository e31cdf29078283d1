#!/usr/bin/env python3
"""Runs the program as users do and checks what it says: text, JSON, exit codes, files.

    run_cli.py --lastword PROGRAM --scratch FOLDER [NAME…]

Each function below whose name starts with `test_` is one case with a folder of its own. The last
line is "N passed, N failed". Needs only the program; rows are read with its own `show`.
"""

import argparse, gzip, json, os, pathlib, pty, signal, subprocess, sys, threading, time, traceback

PROGRAM = ""
SEEDS = [
    '{"seq":1,"key":"merchant-7","op":"upsert","value":10}',
    '{"seq":3,"key":"merchant-7","op":"delete"}',
    '{"seq":2,"key":"merchant-7","op":"upsert","value":20}',
]


class Case:
    """One folder, and the program in it."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, lines):
        text = lines if isinstance(lines, str) else "".join(line + "\n" for line in lines)
        (self.folder / name).write_text(text)
        return name

    def run(self, *args, stdin=None, env=None):
        done = subprocess.run(
            [PROGRAM, *map(str, args)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            input=stdin,
            timeout=60,
            env={**os.environ, **(env or {})},
        )
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode
        return self

    def json(self):
        return json.loads(self.out.strip().splitlines()[-1])

    def apply(self, *args, code=0, **kwargs):
        self.run("apply", *args, **kwargs)
        same(self.code, code, self.err + self.out)
        return self

    def rows(self, table, *args):
        self.run("show", table, "--format", "json", *args)
        same(self.code, 0, self.err)
        return sorted(
            (json.loads(line) for line in self.out.splitlines()), key=lambda row: json.dumps(row)
        )


def same(got, wanted, note=""):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r} {note}")


def holds(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


SEQUENCED = ("--format", "sequenced", "--table", "t.lance", "--key", "key")


def test_seed_exercise(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED)
    holds(
        case.out,
        "t: applied 2 stale 1 repeat 0 conflict 0 quarantined 0 rows 0 tombstones 1, "
        "Lance version 2, ",
    )
    same(case.out.count("\n"), 1)
    same(case.err, "")
    same(case.rows("t.lance"), [])


def test_apply_json(case):
    case.write("a.ndjson", SEEDS)
    said = case.apply("a.ndjson", *SEQUENCED, "--json").json()
    for name, value in {
        "applied": 2,
        "stale": 1,
        "repeat": 0,
        "conflict": 0,
        "quarantined": 0,
        "rows": 0,
        "tombstones": 1,
    }.items():
        same(said[name], value, name)
        same(said["tables"]["t"][name], value, name)
    same(said["tables"]["t"]["lance_version"], 2)


def test_resume_and_from_start(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED)
    said = case.apply("./a.ndjson", *SEQUENCED, "--json").json()
    same(
        case.err,
        "lastword: ./a.ndjson: already applied up to byte 151 (line 3); continuing behind it; "
        "--from-start applies it again\n",
    )
    same((said["applied"], said["stale"], said["repeat"], said["lance_version"]), (0, 0, 0, 2))
    said = case.apply("a.ndjson", *SEQUENCED, "--from-start", "--json").json()
    same((said["applied"], said["stale"], said["repeat"]), (0, 2, 1))
    case.write("a.ndjson", SEEDS + ['{"seq":4,"key":"merchant-7","op":"upsert","value":30}'])
    same(case.apply("a.ndjson", *SEQUENCED, "--json").json()["applied"], 1)
    same(case.rows("t.lance"), [{"key": "merchant-7", "value": 30}])


def test_other_content_is_rewound(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED)
    case.write("a.ndjson", SEEDS[1:])
    said = case.apply("a.ndjson", *SEQUENCED, "--json", code=3).json()
    same(said["error"]["kind"], "source_rewound")
    holds(said["error"]["message"], "--from-start")
    holds(said["error"]["message"], "lastword epoch")
    same(case.run("epoch", "t.lance", "--json").json()["epoch"], 1)
    case.write("a.ndjson", ['{"seq":1,"key":"merchant-7","op":"upsert","value":5}'])
    case.apply("a.ndjson", *SEQUENCED)
    same(case.rows("t.lance"), [{"key": "merchant-7", "value": 5}])


def test_stop_at_a_record(case):
    case.write(
        "a.ndjson",
        [
            SEEDS[0],
            '{"seq":2,"key":"b","op":"explode"}',
            '{"seq":3,"key":"c","op":"upsert","value":1}',
        ],
    )
    for _ in range(2):
        error = case.apply("a.ndjson", *SEQUENCED, "--json", code=3).json()["error"]
        same(
            (error["kind"], error["input"], error["line"], error["offset"]),
            ("invalid_operation", "a.ndjson", 2, 54),
        )
        same(
            sorted(error), ["column", "input", "key", "kind", "line", "message", "offset", "table"]
        )
        holds(case.err, "lastword: invalid_operation: ")
        same(case.rows("t.lance"), [{"key": "merchant-7", "value": 10}])
        same(case.run("status", "t.lance", "--json").json()["lance_version"], 2)


def test_conflict(case):
    case.write("a.ndjson", [SEEDS[0], '{"seq":1,"key":"merchant-7","op":"upsert","value":999}'])
    error = case.apply("a.ndjson", *SEQUENCED, "--json", "--outcomes", "o.ndjson", code=3).json()[
        "error"
    ]
    same(
        (error["kind"], error["line"], error["key"], error["table"]),
        ("version_conflict", 2, "merchant-7", "t"),
    )
    outcomes = [json.loads(line) for line in (case.folder / "o.ndjson").read_text().splitlines()]
    same([o["outcome"] for o in outcomes], ["applied", "conflict"])


def test_quarantine_and_strict(case):
    case.write("a.ndjson", [SEEDS[0], '{"seq":1,"key":"merchant-7","op":"upsert","value":999}'])
    case.write(
        "c.yaml",
        "source: {kind: file, format: sequenced}\nsink: {uri: lake}\n"
        "tables: [{name: t, primary_key: [key], on_conflict: quarantine}]\n",
    )
    said = case.apply("a.ndjson", "--config", "c.yaml", "--json").json()
    same((said["conflict"], said["quarantined"], said["dead_letters"]), (1, 1, 1))
    letters = dead_letters(case, "lake/t.lance")
    same(
        [(x["kind"], x["line"], x["key"]) for x in letters], [("version_conflict", 2, "merchant-7")]
    )
    same(case.run("status", "lake/t.lance", "--json").json()["quarantined_keys"], ["merchant-7"])
    case.apply("a.ndjson", "--config", "c.yaml", "--strict", code=3)
    case.write("b.ndjson", ['{"seq":2,"key":"merchant-7","op":"upsert","value":1}'])
    said = case.apply("b.ndjson", "--config", "c.yaml", "--json").json()
    same((said["applied"], said["quarantined"]), (1, 0))
    # What was put aside is older now than what the key has.
    said = case.apply("--dead-letter", "--config", "c.yaml", "--json").json()
    same((said["stale"], said["dead_letters"]), (1, 0))
    case.apply("a.ndjson", "--config", "c.yaml", "--strict")


def test_outcomes(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED, "--outcomes", "o.ndjson")
    lines = [json.loads(line) for line in (case.folder / "o.ndjson").read_text().splitlines()]
    same(
        [(o["line"], o["offset"], o["kind"], o["outcome"]) for o in lines],
        [(1, 0, "upsert", "applied"), (2, 54, "delete", "applied"), (3, 97, "upsert", "stale")],
    )
    same((lines[0]["input"], lines[0]["table"], lines[0]["key"]), ("a.ndjson", "t", "merchant-7"))


def test_outcomes_name_the_version_that_was_given(case):
    case.write(
        "c.ndjson", ['{"kind":"+I","row":{"k":1,"v":"a"}}', '{"kind":"-D","row":{"k":1,"v":"a"}}']
    )
    arguments = ["--format", "changelog", "--table", "c.lance", "--key", "k"]
    case.apply("c.ndjson", *arguments, "--outcomes", "o.ndjson")
    outcomes = [json.loads(line) for line in (case.folder / "o.ndjson").read_text().splitlines()]
    same([o["version"] for o in outcomes], ["0/1/1/0", "0/1/2/0"])


def test_checkpoint_every(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED, "--checkpoint-every", "1")
    versions = case.run("log", "t.lance", "--json").json()["versions"]
    same([v["version"] for v in versions], [4, 3, 2, 1])
    same([(v["applied"], v["stale"]) for v in versions[:3]], [(0, 1), (1, 0), (1, 0)])


def test_checkpoint_id(case):
    case.write("a.ndjson", ['{"kind":"+I","row":{"k":"a","v":1}}'])
    changelog = ("--format", "changelog", "--table", "t.lance", "--key", "k", "--json")
    same(
        case.apply("a.ndjson", *changelog, "--checkpoint-id", "cp-1").json()["already_committed"],
        False,
    )
    case.write("b.ndjson", ['{"kind":"-D","row":{"k":"a","v":1}}'])
    same(
        case.apply("b.ndjson", *changelog, "--checkpoint-id", "cp-1").json()["already_committed"],
        True,
    )
    same(case.rows("t.lance"), [{"k": "a", "v": 1}])
    same(case.apply("b.ndjson", *changelog, "--checkpoint-id", "cp-2").json()["applied"], 1)
    same(case.rows("t.lance"), [])
    error = case.apply(
        "b.ndjson", *changelog, "--checkpoint-id", "x", "--checkpoint-every", "2", code=2
    ).json()["error"]
    same(error["kind"], "usage")


def test_stdin_and_archives(case):
    case.apply("-", *SEQUENCED, stdin="\n".join(SEEDS) + "\n")
    same(case.run("status", "t.lance", "--json").json()["positions"], {})
    (case.folder / "a.ndjson.gz").write_bytes(
        gzip.compress("".join(s + "\n" for s in SEEDS).encode())
    )
    same(case.apply("a.ndjson.gz", *SEQUENCED, "--json").json()["repeat"], 1)
    whole = (case.folder / "a.ndjson.gz").read_bytes()
    (case.folder / "cut.gz").write_bytes(whole[:-10])
    error = case.apply("cut.gz", *SEQUENCED, "--json", code=5).json()["error"]
    same((error["kind"], error["input"]), ("source_unavailable", "cut.gz"))


def test_usage_errors(case):
    case.write("a.ndjson", SEEDS)
    for args, part in {
        (): "command",
        ("aply",): "did you mean `apply`?",
        ("apply", "a.ndjson"): "--table",
        ("apply", "--table", "t.lance"): "which events",
        ("apply", "a.ndjson", "--table", "t.lance", "--format", "xml"): "debezium",
        ("apply", "a.ndjson", "--table", "t.lance", "--bogus"): "--bogus",
        ("apply", "a.ndjson", "--config", "none.yaml"): "none.yaml",
        ("apply", "a.ndjson", "--table", "t.lance", "--column", "qty"): "name:type",
        ("explain", "t.lance"): "KEY",
        ("show", "t.lance", "--format", "xml"): "table",
    }.items():
        case.run(*args)
        same(case.code, 2, f"{args} {case.err}")
        holds(case.err, part)
        case.run(*args, "--json")
        same(case.code, 2, f"{args} --json {case.err}")
        if args:
            same(case.json()["error"]["kind"], "usage", args)


def test_unavailable(case):
    same(
        case.apply("none.ndjson", *SEQUENCED, "--json", code=5).json()["error"]["kind"],
        "source_unavailable",
    )
    for command in (["show"], ["status"], ["log"], ["gc"], ["compact"], ["epoch"], ["explain"]):
        case.run(*command, "none.lance", *(["1"] if command == ["explain"] else []), "--json")
        same(case.code, 5, f"{command} {case.err}")
        holds(case.err, "there is no table at none.lance")
        same(case.json()["error"]["kind"], "storage_unavailable")
    same(sorted(os.listdir(case.folder)), ["t.lance.lastword"])


def test_format_hint(case):
    case.write("a.ndjson", ['{"key":{"id":1},"value":null,"partition":0,"offset":0}'])
    error = case.apply("a.ndjson", "--table", "t.lance", "--key", "id", "--json", code=3).json()[
        "error"
    ]
    same(error["kind"], "bad_envelope")
    holds(error["message"], "--format records")


def test_words_that_were_never_meant(case):
    """Unset variables, figures that are none, files that would overwrite what is read."""
    case.write("a.ndjson", SEEDS)
    before = (case.folder / "a.ndjson").read_text()
    os.link(case.folder / "a.ndjson", case.folder / "same.ndjson")
    for args, part in {
        ("--key", ""): "--key: must not be empty",
        ("--key", "key", "--checkpoint-id", ""): "--checkpoint-id: must not be empty",
        ("--key", "key", "--checkpoint-every", "0"): "`0` is no whole number of at least 1",
        ("--key", "key", "--outcomes", "a.ndjson"): "would be overwritten",
        ("--key", "key", "--outcomes", "same.ndjson"): "would be overwritten",
    }.items():
        case.apply("a.ndjson", "--format", "sequenced", "--table", "t.lance", *args, code=2)
        holds(case.err, part)
    case.apply("-", "a.ndjson", "-", *SEQUENCED, code=2)
    holds(case.err, "name it once")
    same((case.folder / "a.ndjson").read_text(), before)
    same(sorted(os.listdir(case.folder)), ["a.ndjson", "same.ndjson"])
    case.apply("a.ndjson", *SEQUENCED, "--outcomes", "/dev/null")
    for args, part in {
        ("--as-of", "9"): "the newest is 2",
        ("--as-of", "0"): "at least 1",
        ("--limit", "-1"): "at least 0",
    }.items():
        same(case.run("show", "t.lance", *args).code, 2)
        holds(case.err, part)


def test_the_empty_text_is_a_key(case):
    case.write(
        "a.ndjson",
        [f'{{"seq":1,"key":"{key}","op":"upsert","value":{len(key)}}}' for key in ("", "a")],
    )
    case.apply("a.ndjson", *SEQUENCED)
    same(case.rows("t.lance", "--where-key", ""), [{"key": "", "value": 0}])


def test_names_that_no_reader_could_use(case):
    for name in ("a`b", "*", "a\0b", "a.b", "_rowid"):
        case.write("a.ndjson", [json.dumps({"kind": "+I", "row": {"id": 1, name: 1}})])
        changelog = ("--format", "changelog", "--table", "t.lance", "--key", "id", "--json")
        error = case.apply("a.ndjson", *changelog, code=3).json()["error"]
        same(error["kind"], "reserved_column", name)
        same((case.folder / "t.lance").exists(), False)


def test_decimals_of_a_changelog_are_digits(case):
    case.write("a.ndjson", ['{"kind":"+I","row":{"id":1,"d":"1234"}}'])
    columns = ("--column", "id:int64", "--column", "d:decimal(10,2)")
    case.apply("a.ndjson", "--format", "changelog", "--table", "t.lance", "--key", "id", *columns)
    same(case.rows("t.lance"), [{"d": "1234.00", "id": 1}])


def test_the_place_of_a_table(case):
    case.write("a.ndjson", SEEDS + ['{"seq":2,"key":"b","op":"explode"}'])
    config = "source: {kind: file, format: sequenced}\nsink: {uri: 'URI'}\n"
    config += "tables: [{name: t, primary_key: [key], on_bad_record: dead_letter}]\n"
    case.write("c.yaml", config.replace("URI", f"file://{case.folder}/la%20ke"))
    same(case.apply("a.ndjson", "--config", "c.yaml", "--json").json()["dead_letters"], 1)
    same(sorted(os.listdir(case.folder)), ["a.ndjson", "c.yaml", "la ke"])
    beside = os.listdir(case.folder / "la ke/t.lance.lastword")
    same({"dead_letter", "ledger.lance", "lock"} <= set(beside), True, beside)
    same(case.run("status", "la ke/t.lance", "--json").json()["dead_letters"], 1)
    case.apply("a.ndjson", "--format", "sequenced", "--table", "la ke", "--key", "key", code=2)
    holds(case.err, "la ke/orders.lance")


def snapshot(number, ids, lsn):
    """A dump: its reads, the last of which ends the snapshot."""
    for at, key in enumerate(ids, 1):
        source = {"connector": "postgresql", "name": "s", "schema": "public", "table": "t"}
        source |= {"snapshot": "last" if at == len(ids) else "true", "lsn": lsn}
        row = {"id": key, "v": f"dump {number}"}
        yield json.dumps({"op": "r", "before": None, "after": row, "source": source})


def test_a_dump_that_is_written_anew(case):
    """Its end means something, although it lies at lower offsets than what was applied before."""
    config = "source: {kind: file, format: debezium}\nsink: {uri: lake}\n"
    config += "tables: [{name: t, primary_key: [id], on_resnapshot: replace}]\n"
    case.write("c.yaml", config)
    case.write("dump.ndjson", snapshot(1, [1, 2, 3, 4, 5], 100))
    case.apply("dump.ndjson", "--config", "c.yaml")
    case.write("dump.ndjson", snapshot(2, [2, 3], 200))
    same(
        case.apply("dump.ndjson", "--config", "c.yaml", "--from-start", "--json").json()["rows"], 2
    )
    for number, ids in ((3, [2, 3, 7, 8, 9]), (4, [3])):
        lines = "\n".join(snapshot(number, ids, 100 * number)) + "\n"
        said = case.apply("-", "--config", "c.yaml", "--json", stdin=lines).json()
        same(said["rows"], len(ids))
    os.mkfifo(case.folder / "fifo")
    for number, ids in ((5, [1, 2, 3]), (6, [2])):
        lines = "\n".join(snapshot(number, ids, 100 * number)) + "\n"
        writer = threading.Thread(target=(case.folder / "fifo").write_text, args=(lines,))
        writer.start()
        said = case.apply("fifo", "--config", "c.yaml", "--json").json()
        writer.join()
        same(said["rows"], len(ids))
    same(case.rows("lake/t.lance"), [{"id": 2, "v": "dump 6"}])


def test_the_right_format_is_named(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", "--table", "t.lance", "--key", "key", code=3)
    holds(case.err, "--format sequenced")
    case.write("a.ndjson", ['{"kind":"+I","row":{"id":1}}'])
    case.apply("a.ndjson", "--table", "t.lance", "--key", "id", code=3)
    holds(case.err, "--format changelog")


def test_config(case):
    case.write("a.ndjson", SEEDS)
    config = (
        "source: {kind: file, path: a.ndjson, format: '${FORMAT:-sequenced}'}\n"
        "sink: {uri: lake, durability: process}\n"
        "tables:\n  - name: t\n    primary_key: [key]\n    columns:\n"
        "      - {name: key, type: string}\n"
        "      - {name: value, type: int64}\n"
    )
    case.write("c.yaml", config)
    case.apply("--config", "c.yaml")
    same(case.rows("lake/t.lance"), [])
    case.apply("--config", "c.yaml", env={"FORMAT": "xml"}, code=2)
    case.write("c.yaml", config + "    on_conflct: fail\n")
    case.apply("--config", "c.yaml", code=2)
    holds(case.err, "c.yaml:9:5: tables[0]: unknown key `on_conflct`; did you mean `on_conflict`?")
    case.write("c.yaml", config + "    sequence_columns: [ky]\n")
    case.apply("--config", "c.yaml", code=2)
    holds(case.err, "the sequence column `ky` of table `t` is not among its columns")


def test_declared_columns(case):
    case.write("a.ndjson", ['{"seq":1,"key":"a","op":"upsert","value":{"n":300}}'])
    columns = ("--column", "key:string", "--column", "n:int8")
    error = case.apply("a.ndjson", *SEQUENCED, *columns, "--json", code=3).json()["error"]
    same((error["kind"], error["column"], error["key"]), ("out_of_range", "n", "a"))


def test_explain(case):
    case.write("a.ndjson", SEEDS + ['{"seq":5,"key":"b","op":"upsert","value":1}'])
    case.apply("a.ndjson", *SEQUENCED, "--checkpoint-id", "cp")
    told = case.run("explain", "t.lance", "merchant-7", "--version", "seq:2", "--json").json()
    same(
        (told["state"], told["checkpoint"], told["lance_version"], told["would_be"]),
        ("deleted", "cp", 2, "stale"),
    )
    told = case.run("explain", "t.lance", "b", "--version", "seq:6", "--json").json()
    same((told["state"], told["would_be"]), ("live", "applied"))
    same(case.run("explain", "t.lance", '{"key":"b"}', "--json").json()["state"], "live")
    same(case.run("explain", "t.lance", "nobody", "--json").json()["state"], "unknown")
    case.run("explain", "t.lance", "b")
    holds(case.out, "state         live\n")


def test_explain_a_change_that_waits(case):
    source = '"source":{"connector":"postgresql","name":"s","schema":"public","table":"t","lsn":9}'
    value = '{"op":"c","before":null,"after":{"id":7,"v":"__debezium_unavailable_value"},%s}'
    headers = '{"__debezium.oldkey":"{\\"id\\":1}"}'
    record = '{"key":{"id":7},"value":%s,"partition":0,"offset":0,"headers":%s}'
    case.write("a.ndjson", [record % (value % source, headers)])
    columns = ("--column", "id:int64", "--column", "v:string")
    case.apply("a.ndjson", "--format", "records", "--table", "t.lance", "--key", "id", *columns)
    same(case.run("status", "t.lance", "--json").json()["waiting_changes"], 1)
    for version, wanted in (("0/8/9/2", "stale"), ("0/10/0/2", "applied")):
        told = case.run("explain", "t.lance", "7", "--version", version, "--json").json()
        same(told["would_be"], wanted, version)
        holds(told["why"], "waits for the other")


def test_gc(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED)
    said = case.run("gc", "t.lance", "--json").json()
    same((said["removed"], said["kept"]), (0, 1))
    holds(said["why"], "boundary")
    said = case.run("gc", "t.lance", "--boundary", "seq:3", "--json").json()
    same((said["removed"], said["kept"]), (1, 0))
    said = case.apply("a.ndjson", *SEQUENCED, "--from-start", "--json").json()
    same((said["applied"], said["below_floor"], said["rows"]), (0, 3, 0))
    same(case.run("explain", "t.lance", "merchant-7", "--json").json()["state"], "below floor")


def test_compact(case):
    for i in range(1, 7):
        case.write(
            "a.ndjson", [f'{{"seq":{i},"key":"k{j}","op":"upsert","value":{i}}}' for j in (i, 9)]
        )
        case.apply("a.ndjson", *SEQUENCED, "--from-start")
    case.write("b.ndjson", ['{"seq":20,"key":"k1","op":"delete"}'])
    case.apply("b.ndjson", *SEQUENCED)
    rows = case.rows("t.lance")
    said = case.run("compact", "t.lance", "--json").json()
    same((said["before"]["fragments"] > 1, said["after"]["fragments"]), (True, 1))
    same(said["after"]["deleted_rows"], 0)
    same(said["bytes_freed"], 0)
    same(case.rows("t.lance"), rows)
    said = case.run("compact", "t.lance", "--keep-versions", "1", "--json").json()
    same((said["rounds"], said["after"]["versions"]), (0, 1))
    same(said["bytes_freed"] > 0, True)
    same(case.rows("t.lance"), rows)
    # What the ledger knows is still known: the delete's version, and where the file stands.
    case.write("c.ndjson", ['{"seq":19,"key":"k1","op":"upsert","value":1}'])
    same(case.apply("c.ndjson", *SEQUENCED, "--json").json()["stale"], 1)
    same(case.apply("b.ndjson", *SEQUENCED, "--json").json()["changes"], 0)
    case.run("compact", "t.lance")
    holds(case.out, "rounds wrote")
    case.run("compact", "t.lance", "--keep-versions", "0")
    same(case.code, 2)


def test_versions_of_a_later_epoch(case):
    case.write("a.ndjson", SEEDS)
    case.apply("a.ndjson", *SEQUENCED)
    case.run("gc", "t.lance", "--boundary", "1/0/0/0")
    same(case.code, 2)
    holds(case.err, "in epoch 0")
    same(case.run("epoch", "t.lance", "--json").json()["epoch"], 1)
    told = case.run("explain", "t.lance", "merchant-7", "--version", "seq:1", "--json").json()
    same((told["asked_version"][:2], told["would_be"]), ("1/", "applied"))
    same(case.run("gc", "t.lance", "--boundary", "seq:1", "--json").json()["removed"], 1)
    told = case.run("explain", "t.lance", "merchant-7", "--version", "seq:1", "--json").json()
    same(told["would_be"], "stale")


def test_a_topic_that_was_made_anew(case):
    def record(offset, lsn, op, key, value):
        row = {"id": key, "v": value}
        source = {"connector": "postgresql", "sequence": f'["{lsn - 1}","{lsn}"]', "lsn": lsn}
        source |= {"db": "app", "schema": "public", "table": "t", "snapshot": "false"}
        before, after = (row, None) if op == "d" else (None, row)
        event = {"before": before, "after": after, "source": source, "op": op}
        place = {"topic": "s.public.t", "partition": 0, "offset": offset}
        return json.dumps(place | {"key": {"id": key}, "value": event})

    records = ("--format", "records", "--table", "t.lance", "--key", "id")
    old = [record(0, 100, "c", 1, "a"), record(1, 200, "c", 2, "b"), record(2, 300, "u", 1, "c")]
    case.write("a.ndjson", old)
    case.apply("a.ndjson", *records)
    case.write("a.ndjson", [record(0, 10, "c", 1, "new"), record(1, 20, "d", 2, "b")])
    same(
        case.apply("a.ndjson", *records, "--json", code=3).json()["error"]["kind"], "source_rewound"
    )
    case.run("epoch", "t.lance")
    same(case.apply("a.ndjson", *records, "--json").json()["applied"], 2)
    # The new topic goes on in another file; the old one is not wanted again.
    case.write("b.ndjson", [record(1, 20, "d", 2, "b"), record(2, 30, "c", 3, "z")])
    said = case.apply("b.ndjson", *records, "--json").json()
    same((said["applied"], said["repeat"]), (1, 1))
    same(case.rows("t.lance"), [{"id": 1, "v": "new"}, {"id": 3, "v": "z"}])


def test_show(case):
    lines = [
        json.dumps(
            {"seq": i, "key": f"k{i}", "op": "upsert", "value": {"n": 2**63 - i, "t": 'a,"b"'}}
        )
        for i in range(1, 4)
    ]
    case.write("a.ndjson", lines)
    case.apply("a.ndjson", *SEQUENCED)
    case.run("show", "t.lance", "--where-key", "k1", "--format", "csv")
    same(case.out, 'key,n,t\nk1,9223372036854775807,"a,""b"""\n')
    same(case.rows("t.lance", "--limit", "2").__len__(), 2)
    case.run("show", "t.lance", "--where-key", "k3")
    holds(case.out, "key  n                    t")
    holds(case.out, "(1 row)")
    case.write("b.ndjson", ['{"seq":9,"key":"k1","op":"delete"}'])
    case.apply("b.ndjson", *SEQUENCED)
    same(len(case.rows("t.lance")), 2)
    same(len(case.rows("t.lance", "--as-of", "2")), 3)
    same(case.rows("t.lance", "--as-of", "2", "--where-key", "k1")[0]["n"], 2**63 - 1)


def dead_letters(case, table):
    return [
        json.loads(line)
        for file in (case.folder / f"{table}.lastword/dead_letter").iterdir()
        for line in file.read_text().splitlines()
    ]


def dead_letters(case, table):
    return [
        json.loads(line)
        for file in (case.folder / f"{table}.lastword/dead_letter").iterdir()
        for line in file.read_text().splitlines()
    ]


def test_dead_letter(case):
    case.write(
        "c.yaml",
        "source: {kind: file, format: sequenced}\nsink: {uri: lake}\n"
        "tables: [{name: t, primary_key: [key], on_bad_record: dead_letter,\n"
        "  columns: [{name: key, type: string}, {name: n, type: int8}]}]\n",
    )
    bad = '{"seq":2,"key":"a","op":"upsert","value":{"n":300}}'
    case.write(
        "a.ndjson",
        [
            '{"seq":1,"key":"a","op":"upsert","value":{"n":1}}',
            bad,
            '{"seq":1,"key":"b","op":"upsert","value":{"n":2}}',
        ],
    )
    said = case.apply("a.ndjson", "--config", "c.yaml", "--json").json()
    same((said["applied"], said["dead_letters"]), (2, 1))
    letters = dead_letters(case, "lake/t.lance")
    same([(x["record"], x["kind"], x["line"]) for x in letters], [(bad, "out_of_range", 2)])
    case.apply("a.ndjson", "--config", "c.yaml", "--strict", code=3)
    said = case.apply("--dead-letter", "--config", "c.yaml", "--json").json()
    same((said["applied"], said["dead_letters"]), (0, 1))
    case.write(
        "c.yaml",
        (case.folder / "c.yaml")
        .read_text()
        .replace("int8", "int16")
        .replace("on_bad_record", "type_widening: true, on_bad_record"),
    )
    said = case.apply("--dead-letter", "--config", "c.yaml", "--json").json()
    same((said["applied"], said["dead_letters"]), (1, 0))
    same(case.rows("lake/t.lance"), [{"key": "a", "n": 300}, {"key": "b", "n": 2}])


def test_signals(case):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        table = f"t{code}.lance"
        lines = "".join(
            f'{{"seq":{i},"key":"k{i}","op":"upsert","value":{i}}}\n' for i in range(400_000)
        )
        case.write("big.ndjson", lines)
        with subprocess.Popen(
            [
                PROGRAM,
                "apply",
                "big.ndjson",
                "--format",
                "sequenced",
                "--table",
                table,
                "--key",
                "key",
                "--checkpoint-every",
                "1000",
            ],
            cwd=case.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            while not (case.folder / table).exists():
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=60)
            same(process.returncode, code)
        rows = case.run("status", table, "--json").json()["rows"]
        same(0 < rows < 400_000, True, rows)
        position = next(iter(case.run("status", table, "--json").json()["positions"].values()))
        same(position["lines"], rows)


def apply_slowly(case, stderr):
    """Begins to apply a stream whose second half comes later than progress is drawn again."""
    lines = [f'{{"seq":{i},"key":"k{i % 50}","op":"upsert","value":{i}}}\n' for i in range(20_000)]
    process = subprocess.Popen(
        [PROGRAM, "apply", "-", *SEQUENCED],
        cwd=case.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )
    for half in (lines[:10_000], lines[10_000:]):
        process.stdin.write("".join(half).encode())
        process.stdin.flush()
        time.sleep(0.5)
    process.stdin.close()
    return process


def test_progress_only_on_a_terminal(case):
    process = apply_slowly(case, subprocess.PIPE)
    same(process.stderr.read(), b"")
    same(process.wait(timeout=60), 0)
    main, side = pty.openpty()
    process = apply_slowly(case, side)
    os.close(side)
    said = b""
    while True:
        try:
            piece = os.read(main, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    same(process.wait(timeout=60), 0)
    holds(said.decode(), "changes, ")


def test_help_and_version(case):
    same(case.run("--version").out.startswith("lastword 0."), True)
    case.run("--help")
    same(case.code, 0)
    for command in ("apply", "show", "explain", "status", "log", "gc", "compact", "epoch"):
        holds(case.out, f"  {command} ")
        inner = Case(case.folder).run(command, "--help")
        same(inner.code, 0)
        holds(inner.out, "Examples:\n  lastword ")
        holds(inner.out, "Exit codes: 0 done; 2 usage")


def main():
    global PROGRAM
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lastword", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    PROGRAM = str(pathlib.Path(args.lastword).resolve())
    passed = failed = 0
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_")]:
        if args.names and name not in args.names:
            continue
        folder = pathlib.Path(args.scratch).resolve() / name
        folder.mkdir(parents=True)
        try:
            test(Case(folder))
            passed += 1
        except Exception as problem:
            failed += 1
            where = traceback.extract_tb(problem.__traceback__)
            line = next(f.lineno for f in reversed(where) if f.name == name)
            print(f"{name}: line {line}: {type(problem).__name__}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
