#!/usr/bin/env python3
"""How often `rbenchstat run` is right, from the first round to the last look: the noise of arena.py, measured by the real program.

usage: arena_run.py BINARY [--runs R] [--seed S] [--options "..."] [SCENARIO ...]

Each simulated machine is a folder with what each side prints in each round; `-command` prints it. A benchmark that is measured again
meets the same kind of noise in later rounds. Each line: of R runs of the same code the part that fails (status 1) and that gives no answer
(3); of R runs with one benchmark slower by 5 % and by 10 % the part that fails; then the mean number of rounds of the first stage, how many
rows went into the second, and how many rounds that took where it took any. Needs git. A figure has a standard error of at most 50 / sqrt(R) points.
"""
import argparse, os, random, re, shlex, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arena

MOST = 30  # rounds of both stages
KINDS = {"quiet": "normal-0.3", "normal-1": "normal-1", "normal-3": "normal-3", "normal-10": "normal-10", "outliers": "outliers", "modes": "modes", "drift": "drift", "turbo": "turbo"}


def write(folder, r, kind, slower):
    means, v = [10 ** r.uniform(1, 6) for _ in range(arena.ROWS)], arena.values(r, kind, MOST)
    for s, side in enumerate(("base", "head")):
        for i in range(MOST):
            with open(f"{folder}/{side}-{i + 1}", "w") as f:
                f.write("goos: linux\ngoarch: amd64\npkg: example.com/arena\ncpu: Some CPU\n")
                for b in range(arena.ROWS):
                    f.write(f"BenchmarkRow{b}-8\t1000\t{means[b] * v[b][s][i] * (1 + slower if s and b == 7 else 1):.6g} ns/op\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("binary"); ap.add_argument("--runs", type=int, default=100); ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--options", default=""); ap.add_argument("names", nargs="*")
    a = ap.parse_intermixed_args()
    binary = os.path.abspath(a.binary)
    print(f"{'scenario':10} same code: fails  no answer   +5 %: fails   +10 %: fails   rounds, rows again, rounds again", flush=True)
    with tempfile.TemporaryDirectory() as d:
        git = lambda *words: subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@example.com", *words], cwd=d, check=True, capture_output=True)
        git("init", "-q", "-b", "main"); git("commit", "-q", "--allow-empty", "-m", "one")
        open(f"{d}/changed", "w").close(); os.mkdir(f"{d}/machine")
        command = [binary, "run", "-fail-on", "regression", "-command", f'cat "{d}/machine/$RBENCHSTAT_SIDE-$RBENCHSTAT_ROUND"', *shlex.split(a.options)]
        for name in a.names or KINDS:
            cells, first, rows, again = {}, [], [], []
            for slower in (0, .05, .10):
                status = {0: 0, 1: 0, 3: 0}
                for k in range(a.runs):
                    write(f"{d}/machine", random.Random(f"{a.seed}/{name}/{slower}/{k}"), KINDS[name], slower)
                    p = subprocess.run(command, cwd=d, capture_output=True, text=True)
                    if p.returncode not in status: sys.exit(p.stderr)
                    status[p.returncode] += 1
                    if slower: continue
                    doubts = re.search(r"(\d+) rows? (?:is|are) in doubt", p.stderr)
                    text = open(f"{d}/rbenchstat-run/head.txt").read()
                    last = int(re.findall(r"# rbenchstat round (\d+)", text)[-1])
                    ended = [int(n) for n in re.findall(r"every row is decided after (\d+) of 10", p.stderr)]
                    first.append(ended[0] if ended else 10); rows.append(int(doubts[1]) if doubts else 0)
                    if doubts: again.append(last - first[-1])
                cells[slower] = {key: 100 * count / a.runs for key, count in status.items()}
            mean = lambda values: sum(values) / max(1, len(values))
            x, y, z = cells[0], cells[.05], cells[.10]
            print(f"{name:10} {x[1]:16.1f} {x[3]:10.1f} {y[1]:13.1f} {z[1]:14.1f} {mean(first):8.1f} {mean(rows):11.1f} {mean(again):13.1f}", flush=True)


main()
