"""Compares Lastword's Flink sink with others on one changelog, in one run.

    flink.py --libraries FOLDER --bench JAR --lastword JAR [EVENTS] [--keys N] [--rounds N]
             [--sinks a,b] [--scratch FOLDER] [--keep] [--docs] [--note TEXT]

Each round runs every sink once, in turns, each in a JVM of its own with a cluster inside
(bench/flink/src has the changelog and what is measured); ratios are taken within a round. Every
table is read back through its connector and compared with what the changelog must leave; a wrong
one is printed as wrong, a sink that fails or takes too long as failed, and both end with exit
code 1. --keep stores the figures as those that the next
run of as many events prints beside its own, --docs writes all that are kept into
docs/performance.md; --note says there under what they were measured.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess

import report

FLOOR = "blackhole-shuffled"
OURS = "lastword"
RUN_SECONDS_MAX = 900
# Which jars beside Flink's own a sink needs; none sees those of another one.
SINKS = {
    "blackhole": (),
    FLOOR: (),
    "lastword": ("lastword-flink",),
    "lastword-sequence": ("lastword-flink",),
    "paimon": ("paimon",),
    "paimon-sequence": ("paimon",),
    "iceberg": ("iceberg",),
}
OPENED = ["java.lang", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.time", "java.util"]
OPENED += ["java.util.concurrent"]


def run(options, sink):
    folder = options.scratch / sink
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    strangers = {prefix for prefixes in SINKS.values() for prefix in prefixes}
    strangers -= set(SINKS[sink])
    jars = [options.lastword, *sorted(options.libraries.glob("*.jar"))]
    jars = [jar for jar in jars if not jar.name.startswith(tuple(strangers))]
    jars.append(options.bench)
    command = ["java", "-Xmx2g"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    command += ["-cp", ":".join(map(str, jars)), "org.lastword.bench.FlinkBench", sink]
    command += [str(options.events), str(options.keys), str(folder)]
    with open(options.scratch / f"{sink}.log", "ab") as log:
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=log, text=True, timeout=RUN_SECONDS_MAX
            )
        except subprocess.TimeoutExpired:
            print(f"{sink}: not done after {RUN_SECONDS_MAX} s", flush=True)
            return None
    shutil.rmtree(folder)
    if done.returncode != 0:
        print(f"{sink} failed; {log.name} says why", flush=True)
        return None
    print(done.stdout.strip().splitlines()[-1], flush=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(options):
    """Rounds of {sink: figures}, without the sinks that failed in one of them."""
    rounds = []
    for number in range(options.rounds):
        turn = number % len(options.sinks)
        rounds.append({s: run(options, s) for s in options.sinks[turn:] + options.sinks[:turn]})
    done = [sink for sink in options.sinks if all(results[sink] for results in rounds)]
    return [{sink: results[sink] for sink in done} for results in rounds]


def summarise(rounds, events):
    """Of each sink its figures, how fast it is in parts of the floor of its round, and how many
    times as fast ours is there."""
    figures = {}
    for sink in rounds[0]:
        runs = [results[sink] for results in rounds]

        def middle(name):
            return statistics.median(run[name] for run in runs)

        def ratio(fast, slow):
            return statistics.median(r[slow]["seconds"] / r[fast]["seconds"] for r in rounds)

        figures[sink] = {
            "events_per_second": events / middle("seconds"),
            "cpu_us_an_event": middle("cpu") / events * 1e6,
            "bytes_an_event": middle("bytes_written") / events,
            "table_mb": middle("table_bytes") / 1e6,
            "peak_mb": max(run["peak_mb"] for run in runs),
            "read_seconds": middle("read_seconds"),
            "right": all(run["right"] for run in runs),
        }
        if FLOOR in rounds[0]:
            figures[sink]["of_floor"] = ratio(sink, FLOOR)
        if OURS in rounds[0]:
            figures[sink]["lastword_is"] = ratio(OURS, sink)
    return figures


COLUMNS = [
    ("events_per_second", "events/s", lambda value: report.rate(value)),
    ("of_floor", f"of {FLOOR}", lambda value: f"{value:.2f}"),
    ("lastword_is", f"{OURS} is … times", lambda value: f"{value:.2f}"),
    ("cpu_us_an_event", "CPU us/event", lambda value: f"{value:.2f}"),
    ("bytes_an_event", "bytes written/event", lambda value: f"{value:.0f}"),
    ("table_mb", "table MB", lambda value: f"{value:.0f}"),
    ("read_seconds", "scan s", lambda value: f"{value:.1f}"),
    ("peak_mb", "peak MB", lambda value: f"{value:.0f}"),
]


def cells(figures):
    return [form(figures[name]) if name in figures else "-" for name, _, form in COLUMNS]


def terminal_table(figures, before):
    lines = [f"{'':20}" + "".join(f"{title:>22}" for _, title, _ in COLUMNS) + f"{'before':>12}"]
    for sink, result in figures.items():
        was = before.get(sink)
        line = f"{sink:20}" + "".join(f"{cell:>22}" for cell in cells(result))
        line += f"{report.rate(was['events_per_second']) if was else '-':>12}"
        lines.append(line + ("" if result["right"] else "   WRONG TABLE"))
    return "\n".join(lines)


def docs_table(kept):
    parts = []
    for events, run in sorted(kept.items(), key=lambda item: int(item[0])):
        rounds = "1 round" if run["rounds"] == 1 else f"{run['rounds']} rounds"
        title = f"{int(events):,} events, {run['keys']:,} keys, {rounds}"
        lines = [
            title + (f", {run['note']}:" if run["note"] else ":"),
            "",
            "| sink | " + " | ".join(title for _, title, _ in COLUMNS) + " |",
            "|---|" + "---|" * len(COLUMNS),
        ]
        for sink in (sink for sink in SINKS if sink in run["sinks"]):
            result = run["sinks"][sink]
            wrong = "" if result["right"] else " (wrong table)"
            lines.append(f"| {sink}{wrong} | " + " | ".join(cells(result)) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", type=pathlib.Path, required=True)
    parser.add_argument("--bench", type=pathlib.Path, required=True)
    parser.add_argument("--lastword", type=pathlib.Path, required=True)
    parser.add_argument("events", type=int, nargs="?", default=4_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sinks", default=",".join(SINKS))
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("build/bench-flink"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    options.scratch = options.scratch.resolve()
    options.sinks = options.sinks.split(",")
    unknown = set(options.sinks) - set(SINKS)
    if unknown:
        parser.error(f"no sink {', '.join(sorted(unknown))}; there are {', '.join(SINKS)}")
    return options


def main():
    options = arguments()
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    figures = summarise(measure(options), options.events)
    kept = report.previous("flink")
    before = kept.get(str(options.events), {}).get("sinks", {})
    print(f"{options.events} events, {options.keys} keys, {options.rounds} rounds")
    print(terminal_table(figures, before))
    kept[str(options.events)] = {
        "keys": options.keys,
        "rounds": options.rounds,
        "note": options.note,
        "sinks": figures,
    }
    if options.keep:
        report.keep("flink", kept)
    if options.docs:
        report.write_docs("flink", docs_table(kept))
    if not all(sink in figures and figures[sink]["right"] for sink in options.sinks):
        raise SystemExit(1)
    shutil.rmtree(options.scratch)


if __name__ == "__main__":
    main()
