"""What benchmarks print, keep and write into the docs. Measures nothing."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"
PAGE = ROOT / "docs/performance.md"


def previous(name):
    """The kept figures of an earlier run; empty where there are none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def keep(name, results):
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def write_docs(name, text):
    """Replaces what stands between the two comments that name this part of the page."""
    begin, end = f"<!-- {name}: written by the benchmark -->", f"<!-- end of {name} -->"
    head, rest = PAGE.read_text().split(begin)
    _, tail = rest.split(end)
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def rate(per_second):
    return f"{per_second / 1e6:.2f} M/s" if per_second >= 1e6 else f"{per_second / 1e3:.0f} k/s"


def ratio(figures):
    return (
        f"{figures['lastword_is']:.2f} "
        f"({figures['lastword_is_min']:.2f}-{figures['lastword_is_max']:.2f})"
    )


def number(figures, name, form):
    """A figure as text; a dash where it was not measured."""
    return format(figures[name], form) if figures and name in figures else "-"


def file_table(name, result, before):
    """The figures of one workload for a terminal."""
    lines = [
        f"{name}: {result['covers']}; {result['events']} events, {result['bytes'] / 1e6:.0f} MB",
        f"  {'':14} {'events':>10}   {'Lastword is … times as fast':28} {'before':>8}"
        f" {'CPU us/event':>13} {'peak MB':>8}",
    ]
    for engine, figures in result["engines"].items():
        was = (before or {}).get("engines", {}).get(engine)
        lines.append(
            f"  {engine:14} {rate(figures['events_per_second']):>10}   {ratio(figures):28}"
            f" {number(was, 'lastword_is', '.2f'):>8}"
            f" {number(figures, 'cpu_us_an_event', '.2f'):>13}"
            f" {number(figures, 'peak_mb', '.0f'):>8}"
            f"{'' if figures['right'] else '   WRONG TABLE'}"
        )
    return "\n".join(lines)


def file_docs(results):
    """One table of all workloads: speeds, and Lastword's ratio to each engine."""
    engines = list(next(iter(results.values()))["engines"])
    lines = [
        "| stream | " + " | ".join(engines) + " |",
        "|---|" + "---|" * len(engines),
    ]
    for name, result in results.items():
        cells = []
        for engine in engines:
            figures = result["engines"][engine]
            cell = rate(figures["events_per_second"])
            if engine != "lastword":
                cell += f", {figures['lastword_is']:.2f}"
            if not figures["right"]:
                cell += ", wrong table"
            cells.append(cell)
        lines.append(f"| {name}: {result['covers']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot_files(results):
    """docs/performance-files.svg: events a second of each engine, a group a workload."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "lastword"
    from matplotlib import pyplot

    engines = [name for name in next(iter(results.values()))["engines"] if name != "parse-only"]
    figure, axes = pyplot.subplots(figsize=(9, 3.6), layout="constrained")
    width = 0.8 / len(engines)
    for number, engine in enumerate(engines):
        places = [group + number * width for group in range(len(results))]
        rates = [
            result["engines"][engine]["events_per_second"] / 1e3 for result in results.values()
        ]
        axes.bar(places, rates, width, label=engine)
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(results))], list(results))
    axes.set_ylabel("thousand events a second")
    axes.set_yscale("log")
    axes.legend(ncols=3, fontsize="small")
    figure.savefig(ROOT / "docs/performance-files.svg", metadata={"Date": None})


def openings(result, of):
    """The times to open a table for the first time and again, in scans by pylance without and with
    the addresses of rows."""

    def told(seconds):
        plain, addressed = (
            seconds / result[name] for name in ("key_scan_seconds", "key_address_scan_seconds")
        )
        return f"{seconds:.2f} s, {plain:.1f}{of}, {addressed:.1f} with addresses"

    return f"{told(result['open_seconds'])}; again {told(result['open_again_seconds'])}"


def checkpoint_table(rows, result, before):
    """The figures of one table size for a terminal."""
    lines = [
        f"{int(rows):,} rows: opened in {openings(result, ' scans of the key column')};"
        f" a checkpoint writes {result['bytes_written'] / 1e3:.0f} kB",
        f"  {'':14} {'ms':>8}   {'Lastword costs … times less':28} {'before':>8}",
    ]
    for engine, figures in result["engines"].items():
        was = (before or {}).get("engines", {}).get(engine)
        lines.append(
            f"  {engine:14} {figures['ms']:8.1f}   {ratio(figures):28}"
            f" {number(was, 'lastword_is', '.2f'):>8}"
        )
    return "\n".join(lines)


def checkpoint_docs(results):
    engines = list(next(iter(results.values()))["engines"])
    lines = [
        "| rows | " + " | ".join(engines) + " | opening, in scans of the key column |",
        "|---|" + "---|" * (len(engines) + 1),
    ]
    for rows, result in results.items():
        cells = []
        for engine in engines:
            figures = result["engines"][engine]
            cell = f"{figures['ms']:.0f} ms"
            cells.append(cell if engine == "lastword" else f"{cell}, {figures['lastword_is']:.1f}")
        lines.append(f"| {int(rows):,} | " + " | ".join(cells) + f" | {openings(result, '')} |")
    return "\n".join(lines)
