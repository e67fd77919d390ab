"""Benchmark files made from a seed: the same bytes on every run."""

import pathlib
import random

HEAD = "goos: linux\ngoarch: amd64\npkg: example.com/p\ncpu: Example CPU @ 3.00GHz\n"


def results(out, rng, benchmarks, runs, units=3, name="Handler{0}/size={1}k/kind=json-8", decimals=2):
    """Writes benchmarks × runs results with one to three units, as `go test -benchmem` does.

    With many decimals, hardly any two times are the same.
    """
    for benchmark in range(benchmarks):
        label = name.format(benchmark, benchmark % 7)
        # The same in every file: nothing has changed but for the noise.
        time, size, count = 100.0 * (benchmark * 7919 % 977 + 1), benchmark * 31 % 5000, benchmark % 50
        rest = "".join([f"\t{size:8} B/op", f"\t{count:8} allocs/op"][: units - 1])
        for _ in range(runs):
            iterations = rng.randrange(1000, 1_000_000)
            out.write(f"Benchmark{label} \t{iterations:8}\t{time * rng.uniform(0.97, 1.03):10.{decimals}f} ns/op{rest}\n")


def tied(out, rng, benchmarks, runs, distinct):
    """Writes results whose times are whole numbers out of few."""
    for benchmark in range(benchmarks):
        for _ in range(runs):
            out.write(f"BenchmarkTied{benchmark}-8 \t    1000\t{100 + rng.randrange(distinct):10} ns/op\n")


def files(folder, name, count, write, head=HEAD):
    """Makes `count` files with `write`, unless they are there, and lists them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index in range(count):
        path = folder / f"{name}-{index:02}.txt"
        if not path.exists():
            part = path.with_suffix(".part")
            with open(part, "w", encoding="utf-8") as out:
                out.write(head)
                write(out, random.Random(f"{name} {index}"))
            part.rename(path)
        paths.append(str(path))
    return paths


def configurations(out, rng, count, benchmarks, runs):
    """Writes the same benchmarks again under each of `count` configurations."""
    for number in range(count):
        out.write(f"run: {number}\n")
        results(out, rng, benchmarks, runs, name="Handler{0}-8")
