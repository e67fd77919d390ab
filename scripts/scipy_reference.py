#!/usr/bin/env python3
"""Writes testdata/scipy/*.csv: seeded cases answered by SciPy, for tests/scipy.rs.

    python3 -m venv .venv && .venv/bin/pip install scipy statsmodels
    .venv/bin/python scripts/scipy_reference.py

Values are whole numbers, so that a line says the same to both programs. Where SciPy has no counterpart (the continuity
correction of Mann-Kendall, the ranks of an interval), the formula is written out here, with SciPy's distributions in it.
Some 4,500 cases in all; the first line of each file has the versions that answered them.
"""

import functools
import pathlib
import random

import numpy
import scipy
import statsmodels
from scipy.stats import PermutationMethod, binom, false_discovery_control, gmean, kendalltau, mannwhitneyu, norm
from statsmodels.stats.multitest import multipletests

FOLDER = pathlib.Path(__file__).parent.parent / "testdata" / "scipy"
random.seed(20261130)


def write(name, columns, rows):
    lines = [
        f"# scripts/scipy_reference.py, scipy {scipy.__version__}, statsmodels {statsmodels.__version__}, "
        f"numpy {numpy.__version__}",
        columns,
        *(",".join(map(str, row)) for row in rows),
    ]
    (FOLDER / name).write_text("\n".join(lines) + "\n")
    print(name, len(rows))


def joined(values):
    return " ".join(str(value if isinstance(value, int) else float(value)) for value in values)


def mann_whitney():
    """SciPy's exact method is right without ties only; with ties it would ignore them, so there all permutations answer."""
    rows = []
    for _ in range(900):
        n1, n2 = random.randint(1, 50), random.randint(1, 50)
        values = random.sample(range(400), n1 + n2)
        # Move some of them, so that every size of p is there.
        shift = random.choice([0, 0, 50, 100, 300, 1000])
        x, y = [value + shift for value in values[:n1]], values[n1:]
        if len({*x, *y}) < n1 + n2:
            continue
        if random.random() < 0.5:
            x, y = y, x
        result = mannwhitneyu(x, y, method="exact")
        rows.append(("Exact", float(result.statistic), float(result.pvalue), joined(x), joined(y)))
    for _ in range(600):
        n1, n2 = random.randint(2, 7), random.randint(2, 7)
        distinct = random.randint(2, n1 + n2)
        x = [random.randrange(distinct) + random.choice([0, 0, distinct // 2]) for _ in range(n1)]
        y = [random.randrange(distinct) for _ in range(n2)]
        if len({*x, *y}) in (1, n1 + n2):
            continue
        result = mannwhitneyu(x, y, method=PermutationMethod(n_resamples=10_000))
        rows.append(("ExactTies", float(result.statistic), float(result.pvalue), joined(x), joined(y)))
    for _ in range(600):
        n1, n2 = random.randint(26, 70), random.randint(1, 70)
        distinct = random.choice([2, 5, 20, 200])
        shift = random.choice([0, 0, 1, distinct // 4, distinct])
        x = [random.randrange(distinct) + shift for _ in range(n1)]
        y = [random.randrange(distinct) for _ in range(n2)]
        if random.random() < 0.5:
            x, y = y, x
        tied = len({*x, *y}) < n1 + n2
        if len({*x, *y}) == 1 or not (tied or max(n1, n2) > 50):
            continue
        result = mannwhitneyu(x, y, method="asymptotic", use_continuity=True)
        rows.append(("Normal", float(result.statistic), float(result.pvalue), joined(x), joined(y)))
    write("mann_whitney.csv", "method,u,p,x,y", rows)


def intervals():
    """Up to 30 values, how many of the likeliest outcomes reach the level; above, the ranks of the approximation."""
    rows = []
    for n in range(1, 31):
        for _ in range(10):
            level = random.choice([random.random(), 1 - 10 ** -random.uniform(1, 6)])
            # In whole outcomes the order of equally likely ones does not matter.
            likeliest = sorted(binom.pmf(range(n + 1), n, 0.5), reverse=True)
            sums = numpy.cumsum(likeliest)
            if any(abs(total - level) < 1e-9 for total in sums):
                continue
            outcomes = int(numpy.searchsorted(sums, level)) + 1
            rows.append((n, level, outcomes, ""))
    for n in [*range(31, 80), 100, 333, 1000, 10_000]:
        for _ in range(4):
            level = random.choice([random.random(), 1 - 10 ** -random.uniform(1, 6)])
            mean, deviation = n / 2, n**0.5 / 2
            low, high = norm.interval(level, mean, deviation)
            low, high = numpy.floor(low - 0.5) + 0.5, numpy.ceil(high - 0.5) + 0.5
            if norm.cdf(high - 1, mean, deviation) - norm.cdf(low, mean, deviation) >= level:
                high -= 1
            lower, upper = int(low + 0.5), int(high + 0.5)
            rows.append((n, level, max(lower, 0), upper if upper <= n else 0))
    write("intervals.csv", "n,level,outcomes or lower,upper", rows)


def trends():
    rows = []
    for _ in range(300):
        n = random.randint(8, 20)
        drift = random.choice([0, 1, 3, 10, 100])
        values = [value + drift * i for i, value in enumerate(random.sample(range(100), n))]
        if len(set(values)) < n:
            continue
        p = kendalltau(range(n), values, method="exact").pvalue
        rows.append((float(p), joined(values)))
    for _ in range(300):
        n = random.randint(8, 60)
        drift = random.choice([0, 0, 1, 3])
        values = [random.randrange(20) + drift * i // 8 for i in range(n)]
        counts = [values.count(value) for value in set(values)]
        if max(counts) == 1 and n <= 20:
            continue
        s = sum(numpy.sign(b - a) for i, b in enumerate(values) for a in values[:i])
        term = lambda t: t * (t - 1) * (2 * t + 5)
        variance = (term(n) - sum(map(term, counts))) / 18
        p = min(1, 2 * norm.sf((abs(s) - 1) / variance**0.5)) if s else 1.0
        rows.append((float(p), joined(values)))
    write("trends.csv", "p,values", rows)


def multiplicity():
    rows = []
    for _ in range(200):
        p = [random.random() ** random.choice([1, 3, 8]) for _ in range(random.randint(1, 30))]
        if random.random() < 0.3:
            p = [round(value, 1) for value in p]
        holm = multipletests(p, method="holm")[1]
        rows.append((joined(p), joined(holm), joined(false_discovery_control(p))))
    write("multiplicity.csv", "p,holm,benjamini-hochberg", rows)


def medians():
    """The quantile of type 8 of Hyndman & Fan, which numpy calls unbiased for the median."""
    rows = []
    for _ in range(600):
        values = sorted(random.choice([random.randrange(20), random.randrange(10**6)]) for _ in range(random.randint(1, 60)))
        median = numpy.quantile(values, 0.5, method="median_unbiased")
        rows.append((float(median), joined(values)))
    write("medians.csv", "median,values", rows)


def geomeans():
    rows = []
    for _ in range(400):
        size = 10 ** random.uniform(0, 15)
        values = [random.randrange(1, int(size) + 2) for _ in range(random.randint(1, 60))]
        rows.append((float(gmean(values)), joined(values)))
    write("geomeans.csv", "mean,values", rows)


@functools.lru_cache(maxsize=None)
def at_most(n1, n2, u):
    """P(U <= u) without ties, asked of the test itself: with samples that have this U."""
    above, part = divmod(u, n2)
    y = [10 * (i + 1) for i in range(n2)]
    x = [-i for i in range(n1 - above - 1)] + [10 * n2 + 1 + i for i in range(above)]
    if above < n1:
        x.append(10 * part + 5)
    result = mannwhitneyu(x, y, method="exact", alternative="less")
    assert result.statistic == u
    return float(result.pvalue)


def ratios():
    """The Hodges-Lehmann estimate of a ratio, with all pairs written out, and its interval."""
    rows = []
    for _ in range(600):
        n1, n2 = random.randint(1, 20), random.randint(1, 20)
        shift = random.choice([0, 0, 30, 300])
        spread = random.choice([5, 50, 500])
        x = [random.randrange(100, 100 + spread) for _ in range(n1)]
        y = [random.randrange(100, 100 + spread) + shift for _ in range(n2)]
        level = random.choice([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
        tails = [at_most(n1, n2, u) for u in range(n1 * n2 // 2 + 1)]
        half = (1 - level) / 2
        if any(abs(tail - half) < 1e-9 for tail in tails):
            continue
        logs = sorted(numpy.log(b) - numpy.log(a) for a in x for b in y)
        estimate = float(numpy.exp(numpy.median(logs)))
        rank = max(next(q for q, tail in enumerate(tails) if tail >= half), 1)
        if tails[rank - 1] > half:
            bounds = ("", "")
        else:
            bounds = (float(numpy.exp(logs[rank - 1])), float(numpy.exp(logs[-rank])))
        rows.append((level, estimate, *bounds, joined(x), joined(y)))
    write("ratios.csv", "level,ratio,lower,upper,x,y", rows)


mann_whitney()
intervals()
trends()
multiplicity()
medians()
geomeans()
ratios()
