#!/usr/bin/env python3
"""Shows how the time and memory of rbenchstat grow with its input.

usage: growth.py [--program PROGRAM] [--folder DIR] [--rounds N] [--no-document] [SERIES ...]

    scripts/growth.py samples configurations    # these two, and no change to the documents

In each series one quantity grows from its first size to a thousand times that,
in four steps, and the rest stays put. Prints how time and memory grow, and ends
with exit status 1 if either grows faster than the quantity (than n log n with
samples), with some tolerance. Without --no-document, and with all series, writes the tables into
docs/performance.md and the picture into docs/growth.svg.
Needs Linux, cargo and hyperfine, and for the picture matplotlib
(pip install matplotlib); takes a minute or two and 400 MB of disk in DIR.
"""
import argparse
import dataclasses
import importlib.util
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import workloads as make
from measuring import ROOT, duration, fail, installed, into_document, machine, need_hyperfine, peak, table, times

PICTURE = ROOT / "docs" / "growth.svg"
# An exponent may exceed what it should be by this much: as much as times of the same thing differ on a busy machine.
TOLERANCE = 0.15
# What is less than this part of an empty run above it cannot be told from it.
NOISE = 0.1
# One size is timed for about this long in a round, in seconds.
PATIENCE = 0.5


def linear(n):
    return n


def quadratic(n):
    return n * n


def n_log_n(n):
    return n * math.log(n)


@dataclasses.dataclass(frozen=True)
class Series:
    """One quantity that grows."""

    # What there are so many of, and all else about the input, for the tables.
    quantity: str
    rest: str
    sizes: tuple
    files: int
    # Writes one file of a size.
    write: Callable
    # How time and memory may grow; None for sizes that do not span decades.
    bound: Callable | None = linear
    # How memory may, where that is less than time.
    memory_bound: Callable | None = None
    flags: tuple = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """What one size took."""

    size: int
    # The input, in bytes.
    input: int
    # Median wall time, in seconds.
    time: float
    # Median of peak memory, in MB.
    memory: float


# Benchmarks and samples per cell of so many results in two files.
EVENLY = {1_000: (50, 10), 10_112: (158, 32), 100_000: (500, 100), 999_192: (1581, 316)}


def evenly(out, rng, size):
    make.results(out, rng, *EVENLY[size])


def benchmarks(out, rng, size):
    make.results(out, rng, size, 10)


def configurations(out, rng, size):
    make.configurations(out, rng, size, 5, 6)


def own_names(out, rng, size):
    for number in range(size):
        out.write(f"run: {number}\n")
        make.results(out, rng, 20, 1, units=1, name=f"Own{number}x{{0}}-8")


def columns(out, rng, size):
    make.configurations(out, rng, size, 20, 10)


def samples(out, rng, size):
    without_ties(out, rng, size, 25)
    with_ties(out, rng, size, 25)


def with_ties(out, rng, size, count=1000):
    make.tied(out, rng, count, size, 30)


def without_ties(out, rng, size, count=1000):
    make.results(out, rng, count, size, units=1, decimals=6)


SERIES = {
    "results": Series("results", "2 files, 3 units; √10 times the benchmarks and √10 times the samples per cell in each step, from 50 and 10 on",
                      tuple(EVENLY), 2, evenly),
    "benchmarks": Series("benchmarks", "2 files, 10 samples per cell, 3 units", (50, 500, 5_000, 50_000), 2, benchmarks),
    "configurations": Series("configurations", "2 files, 5 benchmarks, 6 samples per cell, 3 units; the configurations are values of one key",
                             (10, 100, 1_000, 10_000), 2, configurations),
    "columns": Series("columns", "1 file, 20 benchmarks, 10 samples per cell, 3 units; `-col run` with as many values of `run`",
                      (2, 20, 200, 2_000), 1, columns, flags=("-col", "run")),
    "own-names": Series("columns with names of their own", "1 file, 20 benchmarks that no other column has, 1 sample per cell, 1 unit; `-col run`; "
                        "the text has as many blanks as there are rows times columns", (2, 20, 200, 2_000), 1, own_names, quadratic, linear, flags=("-col", "run")),
    "judged-columns": Series("columns, with verdicts", "1 file, 20 benchmarks, 10 samples per cell, 3 units; `-col run -format pretty`",
                             (2, 20, 200, 2_000), 1, columns, flags=("-col", "run", "-format", "pretty")),
    "samples": Series("samples per cell", "2 files, 50 benchmarks, 1 unit; half of the benchmarks with 30 distinct times",
                      (10, 100, 1_000, 10_000), 2, samples, n_log_n),
    "with-ties": Series("samples per cell, with ties", "2 files, 1,000 benchmarks with 30 distinct times", (24, 25, 26), 2, with_ties, None),
    "without-ties": Series("samples per cell, without ties", "2 files, 1,000 benchmarks", (49, 50, 51), 2, without_ties, None),
}
EMPTY = Series("result in each of 2 files: an empty run", "", (1,), 2, lambda out, rng, size: make.results(out, rng, size, 1), None)


def measure(name, series, program, arguments, scratch):
    """All sizes of a series, in turns, so that a moment when the machine is busy hits more than one."""
    paths = {size: make.files(arguments.folder, f"growth-{name}-{size}", series.files, lambda out, rng, size=size: series.write(out, rng, size))
             for size in series.sizes}
    taken, peaks = ({size: [] for size in series.sizes} for _ in range(2))
    for _ in range(arguments.rounds):
        for size in series.sizes:
            start = time.perf_counter()
            peaks[size].append(peak(program, paths[size], os.devnull, series.flags))
            runs = PATIENCE / (time.perf_counter() - start)
            taken[size] += times(program, paths[size], round(min(max(runs, 3), 50)), scratch, series.flags)
    return [Step(size, sum(os.path.getsize(path) for path in paths[size]), statistics.median(taken[size]), statistics.median(peaks[size]))
            for size in series.sizes]


def exponent(steps, empty):
    """The power of the size with which a figure grew in the last decade, what an empty run takes taken off."""
    (small, before), (large, after) = steps[-2:]
    before, after = (max(figure - empty, empty * NOISE) for figure in (before, after))
    return math.log(after / before) / math.log(large / small)


def exponents(steps, empty):
    """Those of time and memory."""
    return (exponent([(step.size, step.time) for step in steps], empty.time),
            exponent([(step.size, step.memory) for step in steps], empty.memory))


def limits(series):
    """What exponents of a series' time and memory may be, without the tolerance."""
    small, large = series.sizes[-2:]
    return [math.log(bound(large) / bound(small)) / math.log(large / small) for bound in (series.bound, series.memory_bound or series.bound)]


def each(figure, empty, size, names):
    """A figure less that of an empty run, for each of the things that there are so many of; nothing where that is noise."""
    if figure - empty < empty * NOISE:
        return ""
    share = (figure - empty) / size
    for name, factor in names:
        if share * factor >= 1:
            break
    return f"{share * factor:.0f} {name}" if share * factor >= 100 else f"{share * factor:.3g} {name}"


TIMES = (("s", 1), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))
MEMORIES = (("MB", 1), ("KB", 1024), ("B", 1024 * 1024))


def summary(measured, empty):
    rows = []
    for name, steps in measured.items():
        series = SERIES[name]
        if series.bound:
            for_time, for_memory = exponents(steps, empty)
            rows.append({"what grows": series.quantity, "from … to": f"{steps[0].size:,} … {steps[-1].size:,}", "the rest": series.rest,
                         "time grows as": f"n^{for_time:.2f}", "memory grows as": f"n^{for_memory:.2f}",
                         "limit": " and ".join(f"n^{power:.2f}" for power in dict.fromkeys(limits(series)))
                                  + (" (n log n)" if series.bound is n_log_n else "")})
    return rows


def details(measured, empty):
    rows = []
    for name, steps in {"": [empty], **measured}.items():
        series = SERIES.get(name, EMPTY)
        for step in steps:
            rows.append({"input": f"{step.size:,} {series.quantity}", "size": f"{step.input / 1e6:.1f} MB",
                         "time": duration(step.time), "time each": each(step.time, empty.time, step.size, TIMES),
                         "peak memory": f"{step.memory:.1f} MB", "memory each": each(step.memory, empty.memory, step.size, MEMORIES)})
    return rows


def too_fast(measured, empty):
    """What grows faster than it may, each with the series."""
    found = []
    for name, steps in measured.items():
        series = SERIES[name]
        if series.bound:
            found += [f"{name}: {figure} grows as n^{power:.2f}, faster than n^{limit + TOLERANCE:.2f}"
                      for figure, power, limit in zip(("time", "memory"), exponents(steps, empty), limits(series)) if power > limit + TOLERANCE]
    return found


def in_short(number):
    """10,000 as 10k: for the ticks of an axis."""
    return f"{number / 1e6:g}M" if number >= 1e6 else f"{number / 1e3:g}k" if number >= 1e3 else f"{number:g}"


def decades(figures):
    """The powers of ten around all of them."""
    return 10.0 ** math.floor(math.log10(min(figures))), 10.0 ** math.ceil(math.log10(max(figures)))


def draw_panel(panel, series, empty, styles):
    """One figure of each step of (label, [(size, figure)]) against its size."""
    left, right = decades([size for _, steps in series for size, _ in steps])
    bottom, top = decades([empty, *(figure for _, steps in series for _, figure in steps)])
    # One for each decade, so that there is one to compare with beside each series.
    for shift in range(-round(math.log10(top / bottom)), round(math.log10(right / left))):
        start = left * 10.0 ** shift
        panel.plot([start, start * top / bottom], [bottom, top], color="#999999", linewidth=0.8, linestyle="--",
                   label="linear growth" if shift == 0 else None)
    panel.axhline(empty, color="#555555", linewidth=1.1, linestyle=":", label="an empty run")
    for (label, steps), (colour, marker) in zip(series, styles[:len(series)], strict=True):
        panel.plot(*zip(*steps), color=colour, marker=marker, markersize=5, linewidth=1.7, label=label)
    panel.set(xscale="log", yscale="log", xlim=(left, right * 1.3), ylim=(bottom, top * 1.1), xlabel="how many of them the input has")
    panel.xaxis.set_major_formatter(lambda number, _: in_short(number))
    panel.minorticks_off()
    panel.spines[["top", "right"]].set_visible(False)


def draw(measured, empty, path):
    """Time and memory of all series against their sizes, the same bytes for the same figures."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 10})
    # Colours that can be told apart with any eyes, by Okabe and Ito.
    styles = list(zip(("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"), "osD^vPX"))
    shown = [(SERIES[name].quantity, steps) for name, steps in measured.items() if SERIES[name].bound]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 4.8), facecolor="white")
    draw_panel(left, [(label, [(step.size, step.time * 1000) for step in steps]) for label, steps in shown], empty.time * 1000, styles)
    draw_panel(right, [(label, [(step.size, step.memory) for step in steps]) for label, steps in shown], empty.memory, styles)
    left.set(title="Time", ylabel="median wall time, ms")
    right.set(title="Memory", ylabel="peak memory, MB")
    for panel in left, right:
        panel.yaxis.set_major_formatter(lambda number, _: f"{number:,g}")
    handles, labels = left.get_legend_handles_labels()
    # The series before the lines to compare them with.
    order = [*range(2, len(labels)), 0, 1]
    figure.legend([handles[index] for index in order], [labels[index] for index in order], loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def arguments_of_this_run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="measure this one, and build nothing")
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "rbenchstat-workloads"), help="where inputs are made and kept")
    parser.add_argument("--rounds", type=int, default=3, help="how often to go through all sizes of a series [default: 3]")
    parser.add_argument("--no-document", action="store_true", help="only print the tables")
    parser.add_argument("series", nargs="*", metavar="SERIES", help=f"all, or some of {', '.join(SERIES)}")
    arguments = parser.parse_args()
    unknown = set(arguments.series) - set(SERIES)
    if unknown:
        parser.error(f"no such series: {', '.join(sorted(unknown))}; there are {', '.join(SERIES)}")
    return arguments


def main():
    arguments = arguments_of_this_run()
    need_hyperfine()
    documented = not arguments.no_document and not arguments.series
    if documented and not importlib.util.find_spec("matplotlib"):
        print("growth: the picture needs matplotlib: pip install matplotlib; printing the tables only", file=sys.stderr)
        documented = False
    program = arguments.program or installed()
    measured = {}
    with tempfile.TemporaryDirectory() as scratch:
        [empty] = measure("empty", EMPTY, program, arguments, scratch)
        for name in arguments.series or SERIES:
            print(f"growth: {name} …", file=sys.stderr, flush=True)
            measured[name] = measure(name, SERIES[name], program, arguments, scratch)
    tables = "\n\n".join(table(rows) for rows in (summary(measured, empty), details(measured, empty)) if rows)
    print(tables)
    if documented:
        into_document("growth", f"{tables}\n\nMeasured by `just growth` on {machine()}.")
        draw(measured, empty, PICTURE)
    problems = too_fast(measured, empty)
    if problems:
        fail("; ".join(problems))


main()
