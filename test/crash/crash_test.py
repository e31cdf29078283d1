#!/usr/bin/env python3
"""Kills the real program at its kill points and at random times; reads what is left with pylance.

    crash_test.py --lastword build/release/lastword --scratch DIR [--kills 200] [--seed N]
    [--minutes 5] [--workers 2]

One run after the other applies a stream of three tables (workload.py) in many checkpoints, each
with a kill armed. After every
kill, for each table: the rows that pylance reads are exactly those behind the line that the
committed position names, no key is
twice there, the positions of a table never go back, and the next run goes on. A stream that is
through is checked against its end,
and the next one begins. Every kill point in the sources must have fired. Prints its seed, and 'N
passed, N failed' last.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import lance

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workload import TABLES, Workload  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A kill that leaves what the next run needs to reach these points.
SETUP = {
    "ledger.before_rollback": "commit.after_ledger",
    "ledger.after_rollback": "commit.after_ledger",
    "index.before_fill": "commit.after_visible",
    "index.before_mark": "commit.after_visible",
}


def kill_points():
    """Every point that the program can reach."""
    points = set()
    for source in (ROOT / "src").rglob("*.cc"):
        if not source.name.endswith("_test.cc"):
            points |= set(re.findall(r'LW_KILL_POINT\("([^"]+)"\)', source.read_text()))
    return sorted(points)


class Failure(Exception):
    pass


class Lake:
    """One stream on its way into one folder of tables."""

    def __init__(self, options, number, seed):
        self.options = options
        self.folder = options.scratch / f"lake-{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.random = random.Random(seed)
        self.work = Workload(seed, options.changes)
        self.events = self.folder / "events.ndjson"
        self.events.write_bytes(b"".join(self.work.lines))
        self.config = self.folder / "pipeline.yaml"
        durability = "fsync" if number % 4 == 0 else "process"
        # Every third table has many fragments: for others to compact while ours runs.
        fragments = 8 if number % 3 == 2 else 2
        configuration = self.work.configuration(
            str(self.folder), str(self.events), durability, fragments
        )
        # So little that the key index leaves memory.
        self.little_memory = number % 2 == 1
        if self.little_memory:
            configuration["memory"] = "64KiB"
        self.config.write_text(json.dumps(configuration))
        self.ends = []
        size = 0
        for line in self.work.lines:
            size += len(line)
            self.ends.append(size)
        self.seen = {table: 0 for table in TABLES}
        self.done = False
        self.compactions = 0

    def uri(self, table):
        return str(self.folder / f"{table}.lance")

    def run(self, kill_point=None, kill_after=None):
        """One process. Returns its exit code; -9 for a kill."""
        command = [
            self.options.lastword,
            "apply",
            "--config",
            str(self.config),
            "--json",
            "--checkpoint-every",
            str(self.random.choice((7, 23, 60))),
        ]
        environment = dict(os.environ)
        environment.pop("LASTWORD_KILL_POINT", None)
        if kill_point:
            environment["LASTWORD_KILL_POINT"] = kill_point
        with open(self.folder / "out.txt", "wb") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env=environment
            )
            if self.random.random() < 0.5:
                self.compact()
            if kill_after is not None:
                try:
                    process.wait(kill_after)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            code = process.wait(timeout=120)
        if code not in (0, -signal.SIGKILL):
            raise Failure(f"exit code {code}: {(self.folder / 'out.txt').read_text()[-2000:]}")
        self.done = code == 0
        return code

    def compact(self):
        """Another program compacts a table while ours commits to it."""
        uri = self.uri(self.random.choice(TABLES))
        if not os.path.exists(uri):
            return
        try:
            dataset = lance.dataset(uri)
            if len(dataset.get_fragments()) > 1:
                dataset.optimize.compact_files()
                self.compactions += 1
        except (OSError, ValueError, RuntimeError):
            pass  # ours was faster, or the table is only just being made

    def position(self, table):
        """Lines that are committed, as the table itself says."""
        command = [self.options.lastword, "status", self.uri(table), "--json"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise Failure(f"status of {table}: {result.stdout[-500:]} {result.stderr[-500:]}")
        status = json.loads(result.stdout.splitlines()[-1])
        positions = list(status["positions"].values())
        return (positions[0]["lines"] if positions else 0), status

    def check(self):
        for table in TABLES:
            if not os.path.exists(self.uri(table)):
                continue
            try:
                dataset = lance.dataset(self.uri(table))
            except ValueError:
                continue  # killed before the table's first version: a folder without one is no
                table
            dataset.validate()
            found = dataset.to_table().to_pylist()
            rows = {row["id"]: row for row in found}
            if len(rows) != len(found) or dataset.count_rows() != len(found):
                raise Failure(f"{table}: a key is there twice")
            count, status = self.position(table)
            if count < self.seen[table]:
                raise Failure(f"{table}: committed line {count} after line {self.seen[table]}")
            self.seen[table] = count
            wanted = self.work.table_at(table, count)
            for id in sorted(set(rows) | set(wanted)):
                got = (
                    {name: rows[id][name] for name in ("n", "doc", "extra") if name in rows[id]}
                    if id in rows
                    else None
                )
                want = (
                    {name: wanted[id].get(name) for name in (got or wanted[id])}
                    if id in wanted
                    else None
                )
                if got != want:
                    raise Failure(f"{table} at line {count}: key {id} is {got} and not {want}")
            self.check_index(table, dataset, found, status)
            if status["dead_letters"] != self.work.dead_letters_at(table, count):
                raise Failure(
                    f"{table} at line {count}: {status['dead_letters']} dead letters and not "
                    f"{self.work.dead_letters_at(table, count)}"
                )
            if self.done and count != len(self.work.lines):
                raise Failure(f"{table}: the run ended at line {count} of {len(self.work.lines)}")
            if self.done and (status["kept_rows"] or status["waiting_changes"]):
                raise Failure(f"{table}: halves of key changes are left")

    def check_index(self, table, dataset, found, status):
        """The declared index is there and finds what a scan finds."""
        if table != "orders" or not found:
            return
        names = [index["name"] for index in dataset.list_indices()]
        if self.done and names != ["n_idx"]:
            raise Failure(f"{table}: indexes {names} at the end")
        for row in self.random.sample(found, min(5, len(found))):
            some = dataset.to_table(filter=f"n = {row['n']}").to_pylist()
            if [other["id"] for other in some] != [row["id"]]:
                raise Failure(f"{table}: n = {row['n']} finds {some}, not key {row['id']}")


class Campaign:
    def __init__(self, options, points):
        """`points`: those that it has to see fire."""
        self.options = options
        self.random = random.Random(options.seed)
        self.points = points
        self.fired = {point: 0 for point in kill_points()}
        self.kills = self.random_kills = self.checks = self.lakes = self.compactions = 0
        self.lake = None

    def next_lake(self):
        if self.lake:
            self.compactions += self.lake.compactions
            shutil.rmtree(self.lake.folder)
        self.lake = Lake(self.options, self.lakes, self.options.seed * 1000 + self.lakes)
        self.lakes += 1

    def give_little_memory(self, fresh):
        """The present stream, or the next one, is one whose key index leaves memory."""
        if fresh or not self.lake or self.lake.done or not self.lake.little_memory:
            self.lakes += 1 - self.lakes % 2
            self.next_lake()

    def step(self, point=None):
        """One process with a kill, and the check behind it. True if it was killed."""
        if self.lake is None or self.lake.done:
            self.next_lake()
        if point:
            code = self.lake.run(kill_point=point)
        else:
            code = self.lake.run(kill_after=self.random.uniform(0.02, self.options.load_seconds))
        killed = code == -signal.SIGKILL
        if killed:
            self.kills += 1
            self.random_kills += point is None
            if point:
                self.fired[point.split(":")[0]] += 1
        self.lake.check()
        self.checks += 1
        return killed

    def run(self):
        begin = time.monotonic()
        while self.kills < self.options.kills:
            if time.monotonic() - begin > self.options.minutes * 60:
                print(f"stopped after {self.options.minutes} minutes")
                break
            # Points that have fired least come first; every second kill is at a random time.
            if self.kills % 2 == 0:
                point = min(self.points, key=lambda name: (self.fired[name], self.random.random()))
                if self.fired[point] == 0 and point.startswith("create."):
                    self.lake = None
                if point.startswith("index."):
                    self.give_little_memory(fresh=point == "index.moving_over")
                if point in SETUP and not self.step(SETUP[point]):
                    continue
                self.step(
                    f"{point}:{self.random.choice((1, 1, 2, 3, 5)) if self.fired[point] else 1}"
                )
            else:
                self.step()
        while not self.lake.done:
            self.lake.run()
        self.lake.check()


def campaign_of(options, number):
    """One of the campaigns that run side by side; what it saw."""
    own = argparse.Namespace(**vars(options))
    own.seed = options.seed + number
    own.kills = -(-options.kills // options.workers)
    own.scratch = options.scratch / str(number)
    own.scratch.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(own, sorted(kill_points())[number :: options.workers])
    failed = []
    try:
        campaign.run()
        if campaign.kills < own.kills:
            failed.append(f"only {campaign.kills} of {own.kills} kills in time")
        failed += [f"{point} never fired" for point in campaign.points if not campaign.fired[point]]
    except Failure as failure:
        failed.append(
            f"{failure} (replay with --seed {own.seed} --workers 1; {campaign.lake.folder} is left)"
        )
    counts = {
        "kills": campaign.kills,
        "of them at random times": campaign.random_kills,
        "streams of three tables": campaign.lakes,
        "compactions by others": campaign.compactions,
        "checks": campaign.checks,
    }
    return counts, campaign.fired, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lastword", required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--changes", type=int, default=900)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--load-seconds", type=float, default=1.2)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    spawn = multiprocessing.get_context("spawn")  # Lance does not survive a fork
    with concurrent.futures.ProcessPoolExecutor(options.workers, mp_context=spawn) as workers:
        runs = [workers.submit(campaign_of, options, i) for i in range(options.workers)]
        results = [run.result() for run in runs]
    for point in sorted(kill_points()):
        print(f"{point}: fired {sum(fired[point] for _, fired, _ in results)} times")
    totals = {name: sum(counts[name] for counts, _, _ in results) for name in results[0][0]}
    print(", ".join(f"{count} {name}" for name, count in totals.items()))
    failed = [line for _, _, lines in results for line in lines]
    for line in failed:
        print(f"FAILED {line}")
    print(f"{totals['checks'] + len(kill_points()) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
