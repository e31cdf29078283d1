#!/usr/bin/env python3
"""Holds the real program to `memory:`: each case applies a stream that would not fit, and compares
the most memory that the process ever had (as the kernel counts it) with what it was allowed.

    memory_test.py --lastword build/release/lastword --scratch DIR [--scale 1.0] [--case NAME]

The allowance of a case is what an almost empty run takes (code, the Lance library) and 32 MiB,
plus `memory`, plus a few times the largest record where one record is larger than that. The
tables are read with pylance. Prints 'N passed, N failed' last.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

MIB = 1 << 20
# Code and threads that an almost empty run does not touch: RocksDB, Lance's encoders.
UNTOUCHED_BYTES = 32 * MIB


# What the kernel counts for a process begins with the size of the one that it was forked from: a
# small one stands between.
MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Failure(Exception):
    pass


class Runs:
    def __init__(self, options):
        self.options = options
        self.scale = options.scale
        self.base_bytes = 0

    def folder(self, name):
        folder = self.options.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def apply(self, folder, lines, memory_bytes, columns, more=None):
        """Applies `lines`; returns the sum of outcomes and the most bytes the process had."""
        events = folder / "events.ndjson"
        if lines is not None:
            with open(events, "w") as out:
                out.writelines(lines)
        config = {
            "source": {"kind": "file", "format": "sequenced", "path": [str(events)]},
            "sink": {"uri": str(folder), "durability": "process"},
            "memory": memory_bytes,
            "tables": [{"name": "t", "primary_key": ["key"], "columns": columns}],
        }
        config.update(more or {})
        (folder / "pipeline.json").write_text(json.dumps(config))
        return self.measured(folder, "apply", "--from-start")

    def compact(self, folder):
        """Compacts the table of `folder`; returns the most bytes the process had."""
        return self.measured(folder, "compact", folder / "t.lance")[1]

    def measured(self, folder, command, *arguments):
        """What a command of the program prints as JSON, and the most bytes the process had."""
        command = [self.options.lastword, command, *arguments, "--json"]
        command += ["--config", folder / "pipeline.json"]
        with open(folder / "out.txt", "w+") as out:
            measured = subprocess.run(
                [sys.executable, "-c", MEASURE, *command],
                stdout=subprocess.PIPE,
                stderr=out,
                text=True,
            )
            out.seek(0)
            printed = out.read()
        if measured.returncode != 0:
            raise Failure(f"exit code {measured.returncode}: {printed[-1000:]}")
        return json.loads(printed.splitlines()[-1]), int(measured.stdout) * 1024

    def status(self, folder, memory_bytes):
        result = subprocess.run(
            [self.options.lastword, "status", folder / "t.lance", "--json"]
            + ["--config", folder / "pipeline.json"],
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            raise Failure(f"status: {result.stdout[-500:]} {result.stderr[-500:]}")
        return json.loads(result.stdout.splitlines()[-1])

    def read(self, folder, expression):
        """What an expression over the table's dataset `t` gives, in JSON."""
        opened = "import json, lance, sys; t = lance.dataset(sys.argv[1])"
        program = f"{opened}; print(json.dumps({expression}))"
        command = [sys.executable, "-c", program, str(folder / "t.lance")]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f"pylance: {result.stderr[-500:]}")
        return json.loads(result.stdout)

    def expect(self, what, got, wanted):
        if got != wanted:
            raise Failure(f"{what} is {got} and not {wanted}")

    def within(self, peak_bytes, memory_bytes, record_bytes=0):
        allowed = self.base_bytes + memory_bytes + record_bytes
        print(
            f"  peak {peak_bytes // MIB} MiB; allowed {allowed // MIB} MiB: "
            f"{self.base_bytes // MIB} for the program, {memory_bytes // MIB} of memory"
            + (f", {record_bytes // MIB} for the record" if record_bytes else "")
        )
        if peak_bytes > allowed:
            raise Failure(f"peak of {peak_bytes // MIB} MiB, allowed {allowed // MIB}")


KEYED = [{"name": "key", "type": "int64"}, {"name": "value", "type": "string"}]


def upsert(seq, key, value):
    return json.dumps({"seq": seq, "key": key, "op": "upsert", "value": value}) + "\n"


def empty_run(runs):
    folder = runs.folder("empty")
    _, peak = runs.apply(folder, [upsert(1, 1, "a")], 64 * MIB, KEYED)
    return peak


def hot_key(runs):
    """One key with a million updates: what counts are its bytes, not its changes."""
    count = int(1_000_000 * runs.scale)
    memory = 64 * MIB
    folder = runs.folder("hot_key")
    sums, peak = runs.apply(folder, (upsert(i, 7, f"v{i}") for i in range(count)), memory, KEYED)
    runs.expect("applied", sums["applied"], count)
    row = runs.read(folder, "t.to_table(['key', 'value']).to_pylist()")
    runs.expect("the rows", row, [{"key": 7, "value": f"v{count - 1}"}])
    runs.within(peak, memory)


def large_batch(runs):
    """A batch larger than memory, without any checkpoint asked for: split at safe points."""
    count = int(300_000 * runs.scale)
    memory = 128 * MIB
    folder = runs.folder("large_batch")
    lines = (upsert(i, i, f"{i:08}" + "x" * 800) for i in range(count))
    more = {"checkpoint": {"max_changes": 1 << 40, "max_bytes": "1TiB"}}
    sums, peak = runs.apply(folder, lines, memory, KEYED, more)
    runs.expect("applied", sums["applied"], count)
    runs.expect("rows", runs.read(folder, "t.count_rows()"), count)
    runs.within(peak, memory)


def large_value(runs):
    """Values of 100 MB."""
    size = int(100 * MIB * runs.scale)
    memory = 128 * MIB
    folder = runs.folder("large_value")
    sums, peak = runs.apply(
        folder, (upsert(i, i, chr(97 + i) * size) for i in range(3)), memory, KEYED
    )
    runs.expect("applied", sums["applied"], 3)
    kept = runs.read(
        folder, "[sorted(set(v)) + [len(v)] for v in t.to_table()['value'].to_pylist()]"
    )
    runs.expect("values", sorted(kept), [[chr(97 + i), size] for i in range(3)])
    runs.within(peak, memory, 10 * size)


def many_columns(runs):
    """10,000 columns."""
    width = int(10_000 * runs.scale)
    memory = 256 * MIB
    folder = runs.folder("many_columns")
    columns = KEYED[:1] + [{"name": f"c{i}", "type": "int64"} for i in range(width)]
    lines = (upsert(i, i, {f"c{j}": i + j for j in range(width)}) for i in range(100))
    sums, peak = runs.apply(folder, lines, memory, columns)
    runs.expect("applied", sums["applied"], 100)
    runs.within(peak, memory)


def index_beyond_memory(runs):
    """More keys than the index's share of memory: RocksDB takes over, and knows every key again."""
    count = int(1_000_000 * runs.scale)
    memory = 128 * MIB
    folder = runs.folder("index_beyond_memory")
    sums, peak = runs.apply(folder, (upsert(i, i, "v") for i in range(count)), memory, KEYED)
    runs.expect("applied", sums["applied"], count)
    runs.within(peak, memory)
    status = runs.status(folder, memory)
    runs.expect("the kind of the index", status["index"]["kind"], "rocksdb")
    runs.expect("its keys", status["index"]["keys"], count)
    # All of it again, in a process that opens the kept index.
    sums, peak = runs.apply(folder, None, memory, KEYED)
    runs.expect("repeat", sums["repeat"], count)
    runs.within(peak, memory)


def compaction(runs):
    """Rounds of compaction between small checkpoints, and one of the whole table behind them."""
    count = int(200_000 * runs.scale)
    memory = 128 * MIB
    folder = runs.folder("compaction")
    # Incompressible rows: what a round holds is what it writes.
    draw = random.Random(1)
    lines = (upsert(i, i // 2, draw.randbytes(500).hex()) for i in range(count))
    more = {"checkpoint": {"max_changes": max(1, count // 100)}}
    sums, peak = runs.apply(folder, lines, memory, KEYED, more)
    runs.expect("applied", sums["applied"], count)
    fragments = runs.read(folder, "len(t.get_fragments())")
    if fragments > 64:
        raise Failure(f"{fragments} fragments: nothing was compacted")
    runs.within(peak, memory)
    peak = runs.compact(folder)
    runs.expect("rows", runs.read(folder, "t.count_rows()"), count // 2)
    runs.within(peak, memory)


CASES = (hot_key, large_batch, large_value, many_columns, index_beyond_memory, compaction)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lastword", type=os.path.abspath, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--case", choices=[case.__name__ for case in CASES])
    runs = Runs(parser.parse_args())
    runs.base_bytes = empty_run(runs) + UNTOUCHED_BYTES
    passed = failed = 0
    for case in CASES:
        if runs.options.case not in (None, case.__name__):
            continue
        print(f"{case.__name__}: {case.__doc__}", flush=True)
        try:
            case(runs)
            passed += 1
            shutil.rmtree(runs.options.scratch / case.__name__)
        except Failure as failure:
            print(f"FAILED {failure}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
