//! Benchmark text from a seed.

use std::fmt::Write;

/// A generator of numbers that are the same on every run (Marsaglia 2003, xorshift).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Around `centre`, up to three percent off.
    pub fn near(&mut self, centre: f64) -> f64 {
        centre * (0.97 + self.below(60_000) as f64 / 1e6)
    }
}

/// `benchmarks` × `runs` results with three units, as `go test -benchmem` writes them.
pub fn results(seed: u64, benchmarks: usize, runs: usize) -> String {
    let mut numbers = Numbers::new(seed);
    let mut text = String::from(
        "goos: linux\ngoarch: amd64\npkg: example.com/p\ncpu: Example CPU @ 3.00GHz\n",
    );
    for benchmark in 0..benchmarks {
        let (time, bytes) = (100.0 * (benchmark % 977 + 1) as f64, benchmark % 4096);
        for _ in 0..runs {
            let count = numbers.below(1_000_000) + 1000;
            let time = numbers.near(time);
            let allocations = benchmark % 50;
            writeln!(
                text,
                "BenchmarkHandler{benchmark}/size={}k/kind=json-8 \t{count:8}\t{time:10.2} ns/op\t{bytes:8} B/op\t{allocations:8} allocs/op",
                benchmark % 7
            )
            .expect("a string takes everything");
        }
    }
    text
}

/// `count` sorted values; at most `distinct` different ones, if that is given.
pub fn sample(seed: u64, count: usize, distinct: Option<u64>) -> Vec<f64> {
    let mut numbers = Numbers::new(seed);
    let mut values: Vec<f64> = (0..count)
        .map(|_| match distinct {
            Some(distinct) => 100.0 + numbers.below(distinct) as f64,
            None => numbers.near(1000.0),
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}
