#!/usr/bin/env python3
"""What others, and disks, do to a table between two checkpoints.

Nothing may be lost, every error says what to do, and there is a way on. Runs the real program;
other programs are played by pylance. Prints 'N passed, N failed' last.

    faults.py --lastword build/release/lastword --scratch FOLDER
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import lance
import pyarrow as pa

from suite import ARGS, main, test


class Table:
    def __init__(self, name, folder=None):
        self.folder = pathlib.Path(folder or ARGS.scratch) / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.uri = str(self.folder / "t.lance")
        self.events = pathlib.Path(ARGS.scratch) / f"{name}.ndjson"

    def command(self, path, *args):
        return [
            ARGS.lastword,
            "apply",
            str(path),
            "--format",
            "sequenced",
            "--table",
            self.uri,
            "--key",
            "key",
            "--column",
            "key:string",
            "--column",
            "value:string",
            "--json",
            *args,
        ]

    def apply(self, changes, *args, expect=0, prefix=()):
        self.events.write_text("".join(json.dumps(c) + "\n" for c in changes))
        # The file is a new one each time: what it held before is not to be compared.
        done = subprocess.run(
            [*prefix, *self.command("-", *args)],
            stdin=self.events.open(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (
            done.returncode == expect
        ), f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}"
        return json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {}

    def error(self, changes, kind, code):
        said = self.apply(changes, expect=code)["error"]
        assert said["kind"] == kind, said
        assert len(said["message"]) > 20, said
        return said

    def rows(self):
        dataset = lance.dataset(self.uri)
        dataset.validate()
        return {
            r["key"]: r["value"] for r in dataset.to_table(columns=["key", "value"]).to_pylist()
        }

    def status(self):
        done = subprocess.run(
            [ARGS.lastword, "status", self.uri, "--json"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])


def put(seq, key, value):
    return {"seq": seq, "key": key, "op": "upsert", "value": value}


def drop(seq, key):
    return {"seq": seq, "key": key, "op": "delete"}


FIRST = [put(i, f"k{i}", "a") for i in range(1, 11)] + [drop(20, "k1")]
LATE = put(15, "k1", "ghost")


def filled(name, folder=None):
    table = Table(name, folder)
    for number in range(0, len(FIRST), 4):
        table.apply(FIRST[number : number + 4])
    return table


def still_right(table, extra=()):
    """A late change stays stale, a new one is applied, and the rows are what they must be."""
    said = table.apply([LATE, put(30, "k2", "b"), drop(31, "k3")])
    assert said["stale"] == 1 and said["applied"] == 2, said
    expected = {f"k{i}": "a" for i in range(4, 11)} | {"k2": "b"} | dict(extra)
    assert table.rows() == expected, table.rows()


@test
def a_second_writer_is_fenced():
    table = filled("second-writer")
    first = subprocess.Popen(
        table.command("-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        lock = pathlib.Path(table.uri + ".lastword/lock")
        for _ in range(100):
            if lock.exists() and lock.read_text().strip() == str(first.pid):
                break
            time.sleep(0.05)
        said = table.error([put(40, "k9", "z")], "fenced_writer", 4)
        assert str(first.pid) in said["message"], said
    finally:
        first.stdin.close()
        assert first.wait(30) == 0
    still_right(table)


@test
def a_foreign_compaction():
    table = filled("compaction")
    lance.dataset(table.uri).optimize.compact_files()
    still_right(table)


@test
def a_foreign_index():
    table = filled("index")
    lance.dataset(table.uri).create_scalar_index("key", "BTREE")
    still_right(table)


@test
def a_foreign_column():
    table = filled("column")
    lance.dataset(table.uri).add_columns(pa.field("note", pa.string()))
    still_right(table)


@test
def foreign_rows_are_reported():
    table = filled("rows")
    dataset = lance.dataset(table.uri)
    row = {
        "key": "x",
        "value": "foreign",
        "_lw_epoch": 0,
        "_lw_hi": 1,
        "_lw_mid": 0,
        "_lw_lo": 0,
        "_lw_digest": 1,
    }
    lance.write_dataset(
        pa.Table.from_pylist([row], schema=dataset.schema), table.uri, mode="append"
    )
    assert table.status()["foreign_changes"], table.status()
    still_right(table, {"x": "foreign"}.items())


@test
def old_versions_cleaned_up_by_another():
    import datetime

    table = filled("cleanup")
    lance.dataset(table.uri).cleanup_old_versions(
        older_than=datetime.timedelta(0), delete_unverified=True
    )
    still_right(table)


@test
def an_older_version_restored():
    table = filled("restore")
    dataset = lance.dataset(table.uri)
    version = dataset.version
    table.apply([put(50, "k5", "later"), drop(51, "k6")])
    lance.dataset(table.uri, version=version).restore()
    still_right(table)


@test
def a_ledger_file_cut_short():
    table = filled("ledger-cut")
    ledger = pathlib.Path(table.uri + ".lastword/ledger.lance")
    for data in (ledger / "data").glob("*.lance"):
        data.write_bytes(data.read_bytes()[:40])
    said = table.apply([LATE], expect=5)["error"]
    assert said["kind"] in ("storage_corrupt", "ledger_missing"), said
    assert "k1" not in table.rows()


@test
def a_ledger_of_an_older_time():
    table = Table("ledger-old")
    table.apply(FIRST[:5])
    ledger = table.uri + ".lastword/ledger.lance"
    table.apply([drop(11, "k4")])
    saved = str(table.folder / "saved")
    shutil.copytree(ledger, saved)
    table.apply([drop(20, "k1")])
    shutil.rmtree(ledger)
    shutil.copytree(saved, ledger)
    table.error([LATE], "ledger_missing", 5)
    assert "k1" not in table.rows()


@test
def a_data_file_that_is_gone():
    table = filled("data-gone")
    for data in (pathlib.Path(table.uri) / "data").glob("*.lance"):
        data.unlink()
    said = table.apply([put(60, "k2", "b")], expect=5)["error"]
    assert said["kind"] in ("storage_corrupt", "storage_unavailable"), said


def broken(table, files, kinds):
    """Each way to break `files` ends in a clear error and exit 5, and mending them is a way on."""
    breaks = {
        "cut short": lambda data: data[: len(data) // 2],
        "zeroed": lambda data: bytes(len(data)),
        "empty": lambda data: b"",
        "the end lost": lambda data: data[:-16] + bytes(16),
    }
    whole = {file: file.read_bytes() for file in files}
    for name, how in breaks.items():
        for file, data in whole.items():
            file.write_bytes(how(data))
        said = table.apply([LATE], expect=5)["error"]
        assert said["kind"] in kinds, (name, said)
        assert len(said["message"]) > 20, (name, said)
        for file, data in whole.items():
            file.write_bytes(data)
    still_right(table)


def newest(folder, pattern):
    return [max(pathlib.Path(folder).glob(pattern), key=lambda file: file.stat().st_mtime_ns)]


@test
def a_broken_data_file_of_the_table():
    table = filled("table-broken")
    broken(table, (pathlib.Path(table.uri) / "data").glob("*.lance"), {"storage_corrupt"})


@test
def a_broken_data_file_of_the_ledger():
    table = filled("ledger-broken")
    ledger = pathlib.Path(table.uri + ".lastword/ledger.lance")
    broken(table, (ledger / "data").glob("*.lance"), {"storage_corrupt"})


@test
def a_broken_manifest_of_the_table():
    table = filled("manifest-broken")
    # Lance takes one that is cut short for a failure to read, zeroes for one without columns.
    kinds = {"storage_corrupt", "storage_unavailable", "unsupported_format"}
    broken(table, newest(table.uri, "_versions/*.manifest"), kinds)


@test
def a_broken_manifest_of_the_ledger():
    table = filled("ledger-manifest-broken")
    files = newest(table.uri + ".lastword/ledger.lance", "_versions/*.manifest")
    broken(table, files, {"storage_corrupt", "storage_unavailable", "ledger_missing"})


@test
def a_clock_that_goes_backwards():
    table = filled("clock")
    library = pathlib.Path(ARGS.lastword).resolve().with_name("test") / "libshifted_clock.so"
    shift = -20 * 365 * 86400
    shifted = ("env", f"LD_PRELOAD={library}", f"CLOCK_SHIFT={shift}")
    year = subprocess.run([*shifted, "date", "+%Y"], capture_output=True, text=True).stdout
    assert int(year) < time.gmtime().tm_year - 18, f"the clock did not move: {year}"
    table.apply([put(25, "k10", "a")], prefix=shifted)
    still_right(table)


class Zombie:
    """A process that stops in mid-run; another one takes its table over, and then it goes on."""

    BAD = {"seq": 99, "key": "bad", "op": "upsert", "value": 10**30}

    def __init__(self, name):
        self.table = Table(name)
        self.config = self.table.folder / "pipeline.yaml"
        self.config.write_text(
            json.dumps(
                {
                    "pipeline": name,
                    "source": {"kind": "file", "path": ["-"], "format": "sequenced"},
                    "sink": {"uri": str(self.table.folder)},
                    "tables": [
                        {
                            "name": "t",
                            "primary_key": ["key"],
                            "on_bad_record": "dead_letter",
                            "columns": [
                                {"name": "key", "type": "string"},
                                {"name": "value", "type": "string"},
                            ],
                        }
                    ],
                }
            )
        )
        self.table.apply(FIRST)

    def start(self, path="-", stop_at=None):
        environment = dict(os.environ)
        if stop_at:
            environment["LASTWORD_KILL_POINT"] = f"{stop_at}:stop"
        return subprocess.Popen(
            [ARGS.lastword, "apply", path, "--config", str(self.config)]
            + ["--format", "sequenced", "--checkpoint-every", "2", "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def take_lock(self):
        pathlib.Path(self.table.uri + ".lastword/lock").unlink()

    def state(self):
        status = self.table.status()
        told = ("lance_version", "ledger_version", "positions", "dead_letters", "tombstones")
        letters = sorted(pathlib.Path(self.table.uri + ".lastword").glob("dead_letter/*"))
        return (
            self.table.rows(),
            {name: status[name] for name in told},
            [(letter.name, letter.read_bytes()) for letter in letters],
        )


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("waited for 30 seconds")


def is_stopped(process):
    stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    return stat.rsplit(")", 1)[1].split()[0] == "T"


def waits_for_input(process):
    """The table is opened before the input is read: the process hangs in a read of the pipe."""
    return "pipe_read" in pathlib.Path(f"/proc/{process.pid}/wchan").read_text()


def lines(*changes):
    return "".join(json.dumps(change) + "\n" for change in changes)


def end_of(process, text=None):
    """Exit code and last line of a process that is given `text` and its end of input."""
    out, err = process.communicate(text, timeout=120)
    return process.returncode, json.loads(out.strip().splitlines()[-1]), err


@test
def a_zombie_changes_nothing():
    # Where it stops: waiting for input, and at each step of its first commit or behind it.
    for stop_at in (
        None,
        "commit.before_ledger:1",
        "commit.after_ledger:1",
        "commit.after_dead_letters:1",
        "commit.after_visible:1",
    ):
        zombie = Zombie(f"zombie-{stop_at or 'waiting'}".replace(":", "-"))
        process = zombie.start(stop_at=stop_at)
        mine = lines(put(60, "k2", "zombie"), Zombie.BAD, drop(61, "k4"), put(62, "k5", "zombie"))
        if stop_at:
            process.stdin.write(mine)
            process.stdin.flush()
            process.stdin.close()
            process.stdin = None
        else:
            wait_until(lambda: waits_for_input(process))
            os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: is_stopped(process))
        zombie.take_lock()
        heir = zombie.start()
        code, said, err = end_of(
            heir, lines(put(70, "k6", "heir"), dict(Zombie.BAD, seq=98), drop(71, "k7"))
        )
        assert code == 0, (stop_at, said, err)
        before = zombie.state()
        assert before[0]["k6"] == "heir" and "k7" not in before[0], before
        os.kill(process.pid, signal.SIGCONT)
        code, said, err = end_of(process, None if stop_at else mine)
        assert code == 4 and said["error"]["kind"] == "fenced_writer", (stop_at, code, said, err)
        assert zombie.state() == before, (stop_at, before, zombie.state())
        # And there is a way on.
        assert zombie.table.apply([put(80, "k2", "b"), LATE])["stale"] == 1
        assert zombie.table.rows() == before[0] | {"k2": "b"}


@test
def what_a_zombie_committed_first_is_built_upon():
    # The heir has opened the table and stands in front of its commit; then the zombie commits.
    for from_file in (False, True):
        zombie = Zombie(f"zombie-first-{from_file}")
        process = zombie.start(stop_at="commit.before_ledger:1")
        process.stdin.write(lines(put(60, "k2", "zombie"), drop(61, "k4")))
        process.stdin.close()
        process.stdin = None
        wait_until(lambda: is_stopped(process))
        zombie.take_lock()
        text = lines(put(70, "k2", "heir"), drop(71, "k5"))
        events = zombie.table.folder / "heir.ndjson"
        events.write_text(text)
        heir = zombie.start(str(events) if from_file else "-", stop_at="commit.before_ledger:1")
        if not from_file:
            heir.stdin.write(text)
            heir.stdin.close()
            heir.stdin = None
        wait_until(lambda: is_stopped(heir))
        os.kill(process.pid, signal.SIGCONT)
        code, said, err = end_of(process)
        assert code == 0, (said, err)
        os.kill(heir.pid, signal.SIGCONT)
        code, said, err = end_of(heir)
        if not from_file:
            # Its input cannot be read once more: it says so, and changes nothing.
            assert code == 4 and said["error"]["kind"] == "commit_conflict", (said, err)
            assert zombie.table.rows()["k2"] == "zombie"
            code, said, err = end_of(zombie.start(), text)
        assert code == 0, (said, err)
        expected = {f"k{i}": "a" for i in range(2, 11)} | {"k2": "heir"}
        del expected["k4"], expected["k5"]
        assert zombie.table.rows() == expected, zombie.table.rows()
        late = [LATE, put(65, "k2", "late"), put(50, "k4", "late"), put(50, "k5", "late")]
        assert zombie.table.apply(late)["stale"] == 4
        assert zombie.table.rows() == expected


def mounted(name, size):
    folder = pathlib.Path(ARGS.scratch) / f"mount-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(f"skipped: {name}: no tmpfs can be mounted here ({done.stderr.strip()})")
        return None
    return folder


@test
def a_full_disk():
    folder = mounted("full", "2m")
    if folder is None:
        return
    try:
        table = filled("t", folder)
        # Whatever the room that is left, some write meets the end of the disk: that of the
        # ledger, of the table, of a manifest.
        full = 0
        for kilobytes in (0, 4, 12, 16, 24, 32, 48, 64):
            room = os.statvfs(folder)
            filler = folder / "filler"
            filler.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - kilobytes * 1024)))
            done = subprocess.run(
                table.command("-"),
                input=json.dumps(put(70, "big", os.urandom(20000).hex())) + "\n",
                capture_output=True,
                text=True,
                timeout=60,
            )
            filler.unlink()
            if done.returncode == 0:
                break
            full += 1
            said = json.loads(done.stdout.strip().splitlines()[-1])["error"]
            assert said["kind"] == "storage_full", said
            assert table.rows() == {f"k{i}": "a" for i in range(2, 11)}
        assert full >= 3, f"the disk was full {full} times only"
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        table.apply([put(71, "big", "small"), drop(72, "k7"), put(73, "k7", "a")])
        still_right(table, {"big": "small"}.items())
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


@test
def a_read_only_disk():
    folder = mounted("readonly", "16m")
    if folder is None:
        return
    try:
        table = filled("t", folder)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        said = table.apply([put(80, "k2", "c")], expect=5)["error"]
        assert said["kind"] == "storage_unavailable", said
        assert table.status()["rows"] == 9
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)
        still_right(table)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


if __name__ == "__main__":
    sys.exit(main(__doc__))
