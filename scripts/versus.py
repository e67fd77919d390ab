#!/usr/bin/env python3
"""Times rbenchstat, and a `benchstat` on PATH beside it, on workloads made from a seed.

usage: versus.py [--benchstat PROGRAM] [--folder DIR] [--rounds N] [--no-document] [WORKLOAD ...]

Builds the release program, runs the two in turns with hyperfine, and prints
medians, ratios, peak memory, and whether the outputs are the same. Without
--no-document, and with all workloads, writes the table into docs/performance.md.
Needs cargo and hyperfine; takes some minutes and 2 GB of disk in DIR.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import workloads as make

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "performance.md"

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


def run(program, paths, out):
    """Runs a comparison to `out`; its peak memory in MB, or this script's own where that is more (about 15 MB)."""
    with open(out, "wb") as stdout:
        child = subprocess.Popen([program, *paths], stdout=stdout, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"versus: {program} failed on {paths[0]} and others")
    return usage.ru_maxrss / 1024


def times(program, paths, runs, scratch):
    """The wall times of `runs` runs, in seconds."""
    export = os.path.join(scratch, "hyperfine.json")
    command = " ".join([program, *paths])
    subprocess.run(["hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", str(max(runs, 2)), "--export-json", export, command],
                   check=True, stdout=subprocess.DEVNULL)
    with open(export, encoding="utf-8") as file:
        return json.load(file)["results"][0]["times"]


def duration(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def measure(name, programs, arguments, scratch):
    what, count, write, target = WORKLOADS[name]
    paths = make.files(arguments.folder, name, count, write)
    size = sum(os.path.getsize(path) for path in paths)
    outputs = [os.path.join(scratch, f"out-{index}") for index in range(len(programs))]
    peaks = [run(program, paths, out) for program, out in zip(programs, outputs)]
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


def table(rows):
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows])


def into_document(name, text):
    """Replaces what stands between the markers of `name` in the document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = DOCUMENT.read_text(encoding="utf-8")
    before, rest = old.split(begin, 1)
    new = f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}"
    part = DOCUMENT.with_suffix(".part")
    part.write_text(new, encoding="utf-8")
    part.rename(DOCUMENT)


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {platform.system()} {platform.release().split('-')[0]}"


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
    if not shutil.which("hyperfine"):
        sys.exit("versus: hyperfine is not on PATH: install it with cargo install hyperfine")
    subprocess.run(["cargo", "build", "--release", "--bin", "rbenchstat"], check=True, cwd=ROOT)
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    programs = [str(pathlib.Path(target) / "release" / "rbenchstat")]
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
