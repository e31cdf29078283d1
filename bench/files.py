"""Compares the way of a file into a table with what others do with the same file, in one run.

    files.py --build FOLDER [--events N] [--rounds N] [--workloads a,b] [--engines a,b]
             [--scratch FOLDER] [--keep] [--docs]

Each round runs every engine once, in turns, so that what the machine does meanwhile hits all of
them; ratios are taken within a round. Every table is compared with the truth of its stream; a wrong
one is printed as wrong and ends with exit code 1. --keep stores the figures as those that the next
run prints beside its own, --docs writes them into docs/performance.md.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import report

HERE = pathlib.Path(__file__).resolve().parent
CHECKPOINT_EVERY = 200_000
# Events of a workload are larger than the usual 430 bytes by about so much.
WEIGHT = {"wide": 5, "large": 100}
ENGINES = [
    "parse-only",
    "last-row map",
    "lastword",
    "duckdb",
    "pylance",
    "pylance-btree",
    "delta-rs",
]


def run(command):
    """Runs a program; gives its last line as JSON, wall seconds, CPU seconds and peak MB."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))[:200]} failed: {output[-2000:]}")
    result = {"cpu": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}
    return json.loads(output.strip().splitlines()[-1]), seconds, result


class Stream:
    def __init__(self, options, name):
        events = options.events // WEIGHT.get(name, 1)
        self.name, self.path = name, options.scratch / f"{name}.ndjson"
        maker = options.build / "bench/make_workload"
        self.truth, _, _ = run([maker, name, str(events), str(max(events // 10, 1)), self.path])
        self.columns = self.truth.pop("columns")
        self.config = options.scratch / f"{name}.yaml"
        self.config.write_text(
            json.dumps(
                {
                    "pipeline": "bench",
                    "source": {"kind": "file", "format": "debezium"},
                    "sink": {"uri": str(options.scratch / "lake")},
                    "tables": [
                        {
                            "name": "orders",
                            "primary_key": ["id"],
                            "columns": self.columns,
                            "decimal_encoding": "string",
                        }
                    ],
                }
            )
        )

    def right(self, sums):
        return all(
            sums[key] == self.truth[key] for key in ("rows", "sum_id", "sum_qty", "sum_id_qty")
        )


def floors(options, stream):
    seconds, _, usage = run([options.build / "bench/floors", stream.path])
    right = seconds["rows"] == stream.truth["rows"]
    return {
        "parse-only": {"seconds": seconds["parse_only"], "right": True},
        "last-row map": {"seconds": seconds["last_row_map"], "right": right},
    }


def lastword(options, stream):
    """The program as users run it: start, synced checkpoints and end are part of the time."""
    lake = options.scratch / "lake"
    shutil.rmtree(lake, ignore_errors=True)
    program = options.build / "lastword"
    command = [program, "apply", stream.path, "--config", stream.config]
    command += ["--checkpoint-every", str(CHECKPOINT_EVERY), "--json"]
    _, seconds, usage = run(command)
    import lance
    from peers.run import sums

    table = lance.dataset(str(lake / "orders.lance")).to_table(columns=["id", "qty"])
    return {"lastword": {"seconds": seconds, "right": stream.right(sums(table)), **usage}}


def peer(options, stream, name):
    out = options.scratch / "peer"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, HERE / "peers/run.py", name, stream.path]
    sums, _, usage = run([*command, json.dumps(stream.columns), out])
    return {name: {"seconds": sums["seconds"], "right": stream.right(sums), **usage}}


def measure(options, stream):
    """Rounds of {engine: {seconds, right, …}}."""
    rounds = []
    for number in range(options.rounds):
        results = {}
        engines = options.engines[number % len(options.engines) :]
        engines += options.engines[: number % len(options.engines)]
        for engine in engines:
            if engine in results:
                continue
            if engine in ("parse-only", "last-row map"):
                results |= floors(options, stream)
            elif engine == "lastword":
                results |= lastword(options, stream)
            else:
                results |= peer(options, stream, engine)
        rounds.append(results)
    return rounds


def summarise(stream, rounds, engines):
    """Of each engine its speed, and how Lastword compares with it within a round."""
    figures = {}
    for engine in engines:
        seconds = [results[engine]["seconds"] for results in rounds]
        ratios = [results[engine]["seconds"] / results["lastword"]["seconds"] for results in rounds]
        figures[engine] = {
            "events_per_second": stream.truth["events"] / statistics.median(seconds),
            "lastword_is": statistics.median(ratios),
            "lastword_is_min": min(ratios),
            "lastword_is_max": max(ratios),
            "right": all(results[engine]["right"] for results in rounds),
        }
        if "cpu" in rounds[0][engine]:
            figures[engine]["cpu_us_an_event"] = (
                statistics.median(results[engine]["cpu"] for results in rounds)
                / stream.truth["events"]
                * 1e6
            )
            figures[engine]["peak_mb"] = max(results[engine]["peak_mb"] for results in rounds)
    return {"events": stream.truth["events"], "bytes": stream.truth["bytes"], "engines": figures}


def workload_names(options):
    listed = subprocess.check_output([options.build / "bench/make_workload", "--list"], text=True)
    known = dict(line.split("\t") for line in listed.splitlines())
    names = options.workloads.split(",") if options.workloads else list(known)
    for name in names:
        if name not in known:
            raise SystemExit(f"no workload '{name}'; there are {', '.join(known)}")
    return {name: known[name] for name in names}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workloads", default="")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    options.engines = [name for name in ENGINES if name in options.engines.split(",")]
    if "lastword" not in options.engines:
        options.engines.insert(0, "lastword")
    return options


def main():
    options = arguments()
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    before = report.previous("files")
    results, right = {}, True
    for name, covers in workload_names(options).items():
        stream = Stream(options, name)
        rounds = measure(options, stream)
        results[name] = {"covers": covers, **summarise(stream, rounds, options.engines)}
        right &= all(figures["right"] for figures in results[name]["engines"].values())
        print(report.file_table(name, results[name], before.get(name)), flush=True)
        stream.path.unlink()
    shutil.rmtree(options.scratch)
    if options.keep:
        report.keep("files", results)
    if options.docs:
        report.write_docs("files", report.file_docs(results))
        report.plot_files(results)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
