#!/usr/bin/env python3
"""Measures OPA's own decision-log plugin and bench-harness in turns, on one machine and with the same requests, and prints how
far what decision logs cost, and what a buffer changes, has the same shape in both.

    scripts/beside-opa.py [--rounds N] [--benchtime 1s] [--workers N] [--output DIR]

Needs Go, which fetches OPA's modules; without it there is one line that says so. Leaves opa-size.txt, opa-event.txt,
harness-size.txt and harness-event.txt in DIR: `rbenchstat -ignore pkg opa-size.txt harness-size.txt` sets both side by side.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIOS = ["minimal", "jwt-validation"]
FIGURES = ["ns/op", "P50", "P99", "P99.9", "B/op", "allocs/op"]


def output_of(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def read(texts):
    """(scenario, variant, figure) → values"""
    values = {}
    for line in "".join(texts).splitlines():
        if not line.startswith("Benchmark"):
            continue
        name, _, *measurements = line.split()
        parts = name.split("/")
        percentile = parts[3].rsplit("-", 1)[0] if len(parts) > 3 else None
        scenario, variant = parts[1], "no" if parts[2].startswith("no-") else "with"
        for value, unit in zip(measurements[::2], measurements[1::2]):
            figure = percentile or unit
            values.setdefault((scenario, variant, figure), []).append(float(value))
    return {key: statistics.median(list_) for key, list_ in values.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--benchtime", default="1s")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="may be repeated [default: all]")
    parser.add_argument("--output", default="beside-opa")
    parser.add_argument("--harness", default=os.path.join(ROOT, "target", "release", "bench-harness"))
    options = parser.parse_args()
    scenarios = options.scenario or SCENARIOS
    if not shutil.which("go"):
        print("beside-opa: skipped, there is no Go")
        return
    os.makedirs(options.output, exist_ok=True)
    opa = os.path.abspath(os.path.join(options.output, "beside-opa"))
    subprocess.run(["go", "build", "-o", opa, "."], check=True, cwd=os.path.join(ROOT, "scripts", "beside-opa"))
    if not os.path.exists(options.harness):
        subprocess.run(["cargo", "build", "--release", "-p", "bench-harness"], check=True, cwd=ROOT)
    texts = {(side, kind): [] for side in ["opa", "harness"] for kind in ["no", "size", "event"]}
    for scenario in scenarios:
        requests = os.path.join(options.output, f"{scenario}.jsonl")
        with open(requests, "w") as file:
            file.write(output_of([options.harness, "requests", scenario]))

    def measure(side, scenario, kind):
        if side == "opa":
            command = [opa, "-policy", os.path.join(ROOT, "bench-harness", "policies", f"{scenario}.rego"),
                       "-requests", os.path.join(options.output, f"{scenario}.jsonl"), "-scenario", scenario,
                       "-benchtime", options.benchtime, "-workers", str(options.workers)]
            if kind != "no":
                command += ["-logs", "-reporting", f'{{"buffer_type": "{kind}"}}']
        else:
            variant = "no" if kind == "no" else "with"
            command = [options.harness, "-bench", f"^BenchmarkAuthorizeRequest/^{scenario}$/^{variant}", "-benchmem",
                       "-benchtime", options.benchtime, "-cpu", str(options.workers)]
            if kind != "no":
                command += ["-settings", f"buffer_type={kind}"]
        texts[side, kind].append(output_of(command, stderr=subprocess.DEVNULL))

    for number in range(options.rounds):
        print(f"beside-opa: round {number + 1} of {options.rounds}", file=sys.stderr)
        turn = [(side, scenario, kind) for scenario in scenarios for kind in ["no", "size", "event"]
                for side in ["opa", "harness"]]
        for case in turn if number % 2 == 0 else reversed(turn):
            measure(*case)
    for side in ["opa", "harness"]:
        for kind in ["size", "event"]:
            path = os.path.join(options.output, f"{side}-{kind}.txt")
            with open(path + ".partial", "w") as file:
                file.write("".join(texts[side, "no"] + texts[side, kind]))
            os.rename(path + ".partial", path)

    print(f"medians of {options.rounds} rounds of {options.benchtime}, {options.workers} worker(s)\n")
    print(f"| | {' | '.join(FIGURES)} |\n|{' --- |' * (len(FIGURES) + 1)}")
    for title, new, old in [
        ("minimal: size buffer / no logs", ("minimal", "with", "size"), ("minimal", "no", "no")),
        ("minimal: event / size buffer", ("minimal", "with", "event"), ("minimal", "with", "size")),
        ("jwt-validation: size buffer / no logs", ("jwt-validation", "with", "size"), ("jwt-validation", "no", "no")),
        ("jwt-validation: event / size buffer", ("jwt-validation", "with", "event"), ("jwt-validation", "with", "size")),
        ("no logs: jwt-validation / minimal", ("jwt-validation", "no", "no"), ("minimal", "no", "no")),
    ]:
        if not {new[0], old[0]} <= set(scenarios):
            continue
        for side, label in [("opa", "OPA"), ("harness", "bench-harness")]:
            cells = []
            for figure in FIGURES:
                pair = [read(texts[side, kind]).get((scenario, variant, figure)) for scenario, variant, kind in [new, old]]
                cells.append("–" if None in pair or pair[1] == 0 else f"{pair[0] / pair[1]:.2f}")
            print(f"| {title}, {label} | {' | '.join(cells)} |")
    print("\nabsolute\n")
    print(f"| | {' | '.join(FIGURES)} |\n|{' --- |' * (len(FIGURES) + 1)}")
    for scenario in scenarios:
        for kind in ["no", "size", "event"]:
            for side, label in [("opa", "OPA"), ("harness", "bench-harness")]:
                medians = read(texts[side, kind])
                cells = [medians.get((scenario, "no" if kind == "no" else "with", figure)) for figure in FIGURES]
                cells = ["–" if cell is None else f"{cell:,.0f}" for cell in cells]
                print(f"| {scenario}, {'no logs' if kind == 'no' else kind}, {label} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
