//! Compares with `SciPy`, on cases answered beforehand by `scripts/scipy_reference.py`.

use std::fs;
use std::path::Path;

use rbenchstat::stats::{
    GeoMean, HodgesLehmann, Method, TrendTest, UDistributions, UTest, benjamini_hochberg, holm,
    interval_ranks, median, smallest_p,
};

/// The rows of a file of answers, as fields; the first two lines say where it is from and what is in it.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/scipy")
        .join(name);
    let text = fs::read_to_string(path).expect("a file of answers");
    let split = |line: &str| line.split(',').map(str::to_owned).collect();
    let rows: Vec<_> = text.lines().skip(2).map(split).collect();
    assert!(rows.len() >= 200, "{name} has too few rows");
    rows
}

fn number(field: &str) -> f64 {
    field.parse().expect("a number")
}

fn numbers(field: &str) -> Vec<f64> {
    field.split(' ').map(number).collect()
}

fn sorted(field: &str) -> Vec<f64> {
    let mut values = numbers(field);
    values.sort_by(f64::total_cmp);
    values
}

#[track_caller]
fn assert_close(actual: f64, expected: f64, relative: f64, absolute: f64, row: &[String]) {
    let tolerance = relative * expected.abs() + absolute;
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not {expected} in {row:?}"
    );
}

#[test]
fn the_u_test_agrees_with_scipy() {
    let mut test = UTest::new();
    for row in rows("mann_whitney.csv") {
        let outcome = test.test(&sorted(&row[3]), &sorted(&row[4]));
        assert_eq!(format!("{:?}", outcome.method), row[0]);
        assert_eq!(outcome.u, number(&row[1]), "{row:?}");
        // The approximation takes 1 − Φ, as the reference does, where SciPy takes the complement without cancellation:
        // an ulp of 1, doubled, is all that can be asked for there.
        let absolute = if outcome.method == Method::Normal {
            f64::EPSILON
        } else {
            0.0
        };
        assert_close(outcome.p, number(&row[2]), 1e-12, absolute, &row);
    }
}

#[test]
fn no_exact_p_is_below_the_smallest_possible() {
    for row in rows("mann_whitney.csv")
        .iter()
        .filter(|row| row[0] == "Exact")
    {
        let least = smallest_p(numbers(&row[3]).len(), numbers(&row[4]).len());
        assert!(number(&row[2]) >= least * (1.0 - 1e-12), "{row:?}");
    }
}

#[test]
fn interval_ranks_agree_with_scipys_distributions() {
    for row in rows("intervals.csv") {
        let (n, level) = (row[0].parse().expect("a size"), number(&row[1]));
        let ranks = interval_ranks(n, level);
        let first: usize = row[2].parse().expect("a count");
        if row[3].is_empty() {
            let outcomes = ranks.upper.unwrap_or(n + 1) - ranks.lower.unwrap_or(0);
            assert_eq!(outcomes, first, "{row:?}");
        } else {
            let second: usize = row[3].parse().expect("a rank");
            assert_eq!(
                (ranks.lower.unwrap_or(0), ranks.upper.unwrap_or(0)),
                (first, second),
                "{row:?}"
            );
        }
    }
}

#[test]
fn trends_agree_with_scipy() {
    let mut test = TrendTest::new();
    for row in rows("trends.csv") {
        let trend = test.test(&numbers(&row[1])).expect("eight values or more");
        assert_close(trend.p, number(&row[0]), 1e-12, 0.0, &row);
    }
}

#[test]
fn adjusted_p_values_agree_with_scipy_and_statsmodels() {
    for row in rows("multiplicity.csv") {
        let p = numbers(&row[0]);
        for (ours, theirs) in [(holm(&p), &row[1]), (benjamini_hochberg(&p), &row[2])] {
            let theirs = numbers(theirs);
            assert_eq!(ours.len(), theirs.len());
            for (&ours, &theirs) in ours.iter().zip(&theirs) {
                assert_close(ours, theirs, 1e-12, 0.0, &row);
            }
        }
    }
}

#[test]
fn medians_agree_with_numpy() {
    for row in rows("medians.csv") {
        assert_close(median(&sorted(&row[1])), number(&row[0]), 1e-12, 0.0, &row);
    }
}

#[test]
fn geometric_means_agree_with_scipy() {
    for row in rows("geomeans.csv") {
        let mean: GeoMean = numbers(&row[1]).into_iter().collect();
        let mean = mean.get().expect("a value or more");
        assert_close(mean, number(&row[0]), 1e-12, 0.0, &row);
    }
}

#[test]
fn ratios_and_their_intervals_agree_with_scipy() {
    let mut estimator = HodgesLehmann::new();
    let mut distributions = UDistributions::new();
    for row in rows("ratios.csv") {
        let (x, y) = (sorted(&row[4]), sorted(&row[5]));
        let estimate = estimator.ratio(&mut distributions, &x, &y, number(&row[0]));
        let estimate = estimate.expect("positive values");
        assert_close(estimate.value, number(&row[1]), 1e-12, 0.0, &row);
        if row[2].is_empty() {
            assert!(!estimate.interval.is_bounded(), "{row:?}");
        } else {
            assert_close(estimate.interval.lo, number(&row[2]), 1e-12, 0.0, &row);
            assert_close(estimate.interval.hi, number(&row[3]), 1e-12, 0.0, &row);
        }
    }
}
