"""Compares Lastword's Flink sink with others on one changelog, in one run.

    flink.py --libraries FOLDER --bench JAR --lastword JAR [EVENTS] [--keys N] [--rounds N]
             [--sinks a,b] [--scratch FOLDER] [--keep] [--docs]

Each round runs every sink once, in turns, each in a JVM of its own with a cluster inside
(bench/flink/src has the changelog and what is measured); ratios are taken within a round. Every
table is read back through its connector and compared with what the changelog must leave; a wrong
one is printed as wrong and ends with exit code 1. --keep stores the figures as those that the next
run prints beside its own, --docs writes them into docs/performance.md.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess

import report

FLOOR = "blackhole-shuffled"
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
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{sink} failed; {log.name} says why")
    shutil.rmtree(folder)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(options):
    """Rounds of {sink: figures}."""
    rounds = []
    for number in range(options.rounds):
        turn = number % len(options.sinks)
        rounds.append({s: run(options, s) for s in options.sinks[turn:] + options.sinks[:turn]})
    return rounds


def summarise(rounds, events):
    """Of each sink its figures, and how fast it is in parts of the floor of its round."""
    figures = {}
    for sink in rounds[0]:
        runs = [results[sink] for results in rounds]

        def middle(name):
            return statistics.median(run[name] for run in runs)

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
            ratios = [r[FLOOR]["seconds"] / r[sink]["seconds"] for r in rounds]
            figures[sink]["of_floor"] = statistics.median(ratios)
    return figures


COLUMNS = [
    ("events_per_second", "events/s", lambda value: report.rate(value)),
    ("of_floor", f"of {FLOOR}", lambda value: f"{value:.2f}"),
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


def docs_table(figures, options):
    lines = [
        f"{options.events:,} events, {options.keys:,} keys, {options.rounds} rounds:",
        "",
        "| sink | " + " | ".join(title for _, title, _ in COLUMNS) + " |",
        "|---|" + "---|" * len(COLUMNS),
    ]
    for sink, result in figures.items():
        wrong = "" if result["right"] else " (wrong table)"
        lines.append(f"| {sink}{wrong} | " + " | ".join(cells(result)) + " |")
    return "\n".join(lines)


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
    print(f"{options.events} events, {options.keys} keys, {options.rounds} rounds")
    print(terminal_table(figures, report.previous("flink")))
    if options.keep:
        report.keep("flink", figures)
    if options.docs:
        report.write_docs("flink", docs_table(figures, options))
    shutil.rmtree(options.scratch)
    if not all(result["right"] for result in figures.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
