#!/usr/bin/env python3
"""Records made to hurt: what the program says of each, and how much memory it takes for it.

Each input is one file between two good records. The program has to end with the expected error (or
none), apply what stands in front of it, and its largest resident memory has to stay below the
memory of an ordinary run plus a small multiple of the longest line. Prints the measured figures,
and 'N passed, N failed' last.

    hostile.py --lastword build/release/lastword --scratch FOLDER
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import traceback

MEGABYTE = 1 << 20
# What a line may cost beside its own bytes: the buffer it is read into, its index, its decoded
# form, the column, what storage makes of it, and pages that the allocator has not given back yet.
BYTES_A_BYTE = 9
SLACK = 64 * MEGABYTE

GOOD = b'{"seq":1,"key":"first","op":"upsert","value":"a"}\n'
LAST = b'{"seq":9,"key":"last","op":"upsert","value":"z"}\n'


class Line:
    """One line in pieces, each a text and how often it stands there: never whole in this process,
    whose own memory a child would inherit in what the kernel says of it."""

    def __init__(self, *pieces):
        self.pieces = [(text, count) for text, count in pieces]

    def size(self):
        return sum(len(text) * count for text, count in self.pieces)

    def write(self, file):
        for text, count in self.pieces:
            at_once = max(1, MEGABYTE // len(text))
            block = text * at_once
            for _ in range(count // at_once):
                file.write(block)
            file.write(text * (count % at_once))


def upsert(*pieces):
    begin, end = b'{"seq":2,"key":"k","op":"upsert","value":', b"}\n"
    return Line((begin, 1), *pieces, (end, 1))


def inputs():
    """Name, line, expected error kind; None: it is applied."""
    hundred = 100 * MEGABYTE
    quote = (b'"', 1)
    yield "text of 100 MB", upsert(quote, (b"x", hundred), quote), None
    key = Line((b'{"seq":2,"key":"', 1), (b"k", hundred), (b'","op":"upsert","value":"v"}\n', 1))
    yield "key of 100 MB", key, None
    yield "escapes of 100 MB", upsert(quote, (b"\\u0041", hundred // 6), quote), None
    name = upsert((b'{"', 1), (b"n", hundred), (b'":1}', 1))
    yield "name of 100 MB", name, "schema_incompatible"
    yield "lists 10 million deep", upsert((b"[", 10**7), (b"1", 1), (b"]", 10**7)), "bad_json"
    objects = upsert((b'{"a":', 5 * 10**6), (b"1", 1), (b"}", 5 * 10**6))
    yield "objects 5 million deep", objects, "bad_json"
    yield "10 million openings", upsert((b"[", 10**7)), "bad_json"
    yield "number of 50 million digits", upsert((b"9", 5 * 10**7)), "type_mismatch"
    yield "exponent of 20 million digits", upsert((b"1e", 1), (b"9", 2 * 10**7)), "type_mismatch"
    yield "10 million numbers", upsert((b"[", 1), (b"1,", 10**7), (b"1]", 1)), "type_mismatch"
    members = upsert((b"{", 1), (b'"a":1,', 5 * 10**6), (b'"b":2}', 1))
    yield "5 million members of one name", members, "schema_incompatible"
    yield "50 MB of broken UTF-8", upsert(quote, (b"\xc3\x28", 25 * 10**6), quote), "bad_json"
    yield "50 MB of zero bytes", Line((b"\0", 5 * 10**7), (b"\n", 1)), "bad_json"
    twice = Line((b'{"seq":2,"seq":3,"key":"k","op":"upsert","value":"v"}\n', 1))
    yield "a name twice", twice, "bad_json"


class Run:
    def __init__(self, options, name, *lines):
        self.folder = options.scratch / "".join(c if c.isalnum() else "-" for c in name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        events = self.folder / "events.ndjson"
        with events.open("wb") as file:
            for line in lines:
                line.write(file)
        table = str(self.folder / "t.lance")
        output = self.folder / "stdout"
        with output.open("wb") as out, (self.folder / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [options.lastword, "apply", str(events), "--format", "sequenced"]
                + ["--table", table, "--key", "key", "--column", "key:string"]
                + ["--column", "value:string", "--json"],
                stdout=out,
                stderr=err,
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.code = process.returncode
        self.memory = usage.ru_maxrss * 1024
        self.output_bytes = output.stat().st_size
        self.said = {}
        if 0 < self.output_bytes < MEGABYTE:
            self.said = json.loads(output.read_text().strip().splitlines()[-1])
        status = subprocess.run(
            [options.lastword, "status", table, "--json"], capture_output=True, text=True
        )
        self.rows = json.loads(status.stdout.strip().splitlines()[-1])["rows"]
        shutil.rmtree(self.folder)


def check(options, name, line, kind, ordinary):
    run = Run(options, name, Line((GOOD, 1)), line, Line((LAST, 1)))
    bound = ordinary + SLACK + BYTES_A_BYTE * line.size()
    print(
        f"{name}: line {line.size() / 1e6:.1f} MB, memory {run.memory / 1e6:.0f} MB of at most "
        f"{bound / 1e6:.0f} MB, {kind or 'applied'}",
        flush=True,
    )
    assert run.memory <= bound, f"{run.memory} bytes"
    if kind is None:
        assert run.code == 0, run.said
        assert run.rows == 3, run.rows
        return
    assert run.code == 3, f"exit {run.code}"
    assert run.output_bytes < 8192, f"an error of {run.output_bytes} bytes"
    error = run.said["error"]
    assert error["kind"] == kind, error
    assert error["line"] == 2, error
    assert run.rows == 1, run.rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lastword", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    options = parser.parse_args()
    ordinary = Run(options, "ordinary", Line((GOOD + LAST, 1))).memory
    print(f"an ordinary run: {ordinary / 1e6:.0f} MB")
    passed = failed = 0
    for name, line, kind in inputs():
        try:
            check(options, name, line, kind, ordinary)
            passed += 1
        except Exception:  # a failing test must not hide the others
            failed += 1
            print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
