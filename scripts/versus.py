#!/usr/bin/env python3
"""Times rbenchstat, and a `benchstat` on PATH beside it, on workloads made from a seed.

usage: versus.py [--benchstat PROGRAM] [--folder DIR] [--rounds N] [--no-document] [WORKLOAD ...]

Installs the program, runs the two in turns with hyperfine, and prints
medians, ratios, peak memory, and whether the outputs are the same. Without
--no-document, and with all workloads, writes the table into docs/performance.md.
Needs Linux, cargo and hyperfine; takes some minutes and 2 GB of disk in DIR.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import workloads as make
from measuring import duration, installed, into_document, machine, need_hyperfine, peak, table, times

# Name, what it is, how many files, how to write one, the ratio to reach.
WORKLOADS = {
    "small": ("2 files × 20 benchmarks × 10", 2, lambda out, rng: make.results(out, rng, 20, 10), 3),
    "wide": ("40 files × 200 benchmarks × 10", 40, lambda out, rng: make.results(out, rng, 200, 10), 5),
    "parse-heavy": ("2 files × 5,000 benchmarks × 100, 3 units", 2, lambda out, rng: make.results(out, rng, 5000, 100, name="Handler{0}-8"), 15),
    "tie-heavy": ("2 files × 500 benchmarks × 25, 30 distinct values", 2, lambda out, rng: make.tied(out, rng, 500, 25, 30), 100),
    "exact-heavy": ("2 files × 1,000 benchmarks × 50", 2, lambda out, rng: make.results(out, rng, 1000, 50, units=1, name="Handler{0}-8", decimals=6), 50),
    "many-config": ("2 files × 1,000 configurations × 5 benchmarks × 6", 2, lambda out, rng: make.configurations(out, rng, 1000, 5, 6), None),
    "one-large": ("1 file of 1 GB: 116,000 benchmarks × 100", 1, lambda out, rng: make.results(out, rng, 116_000, 100), None),
}


def measure(name, programs, arguments, scratch):
    what, count, write, target = WORKLOADS[name]
    paths = make.files(arguments.folder, name, count, write)
    size = sum(os.path.getsize(path) for path in paths)
    outputs = [os.path.join(scratch, f"out-{index}") for index in range(len(programs))]
    peaks = [peak(program, paths, out) for program, out in zip(programs, outputs)]
    runs = 2 if size > 500e6 else 20 if size < 1e6 else 3
    taken = [[] for _ in programs]
    for _ in range(1 if size > 500e6 else arguments.rounds):
        for index, program in enumerate(programs):
            taken[index] += times(program, paths, runs, scratch)
    medians = [statistics.median(each) for each in taken]
    row = {"workload": f"{name}: {what}", "size": f"{size / 1e6:.1f} MB", "ours": duration(medians[0]), "peak": f"{peaks[0]:.0f} MB"}
    if len(programs) > 1:
        same = pathlib.Path(outputs[0]).read_bytes() == pathlib.Path(outputs[1]).read_bytes()
        row |= {"theirs": duration(medians[1]), "their peak": f"{peaks[1]:.0f} MB", "ratio": f"{medians[1] / medians[0]:.1f}×",
                "target": f"{target}×" if target else "", "output": "identical" if same else "DIFFERS"}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchstat", default=shutil.which("benchstat"))
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "rbenchstat-workloads"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-document", action="store_true")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    arguments = parser.parse_args()
    unknown = set(arguments.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}")
    need_hyperfine()
    programs = [installed()]
    if arguments.benchstat:
        programs.append(arguments.benchstat)
    else:
        print("versus: no benchstat on PATH: timing rbenchstat alone", file=sys.stderr)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.workloads or WORKLOADS:
            print(f"versus: {name} …", file=sys.stderr, flush=True)
            rows.append(measure(name, programs, arguments, scratch))
    print(table(rows))
    if not arguments.no_document and not arguments.workloads:
        into_document("versus", f"{table(rows)}\n\nMeasured by `just versus` on {machine()}.")
    if any(row.get("output") == "DIFFERS" for row in rows):
        sys.exit("versus: outputs differ")


main()
