//! The geometric mean of many rows, and how sure it is.

use super::exponential::exp;
use super::median::Interval;

/// A running geometric mean of positive values.
///
/// The mean of the logarithms is updated with every value, m += (ln x − m)/i (Welford 1962), rather than summed and
/// divided: that is the order of roundings whose digits are printed. The logarithm is that of `libm`, as its algorithm is the
/// reference's, and so is the exponential's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeoMean {
    mean_of_logs: f64,
    count: usize,
}

impl GeoMean {
    /// A mean of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one more value, > 0. Which values have no logarithm is the caller's to decide and say.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        self.mean_of_logs += (libm::log(value) - self.mean_of_logs) / self.count as f64;
    }

    /// How many values were taken.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The mean so far, in the unit of the values; `None` of nothing.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        (self.count > 0).then(|| exp(self.mean_of_logs))
    }
}

impl Extend<f64> for GeoMean {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, values: T) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl FromIterator<f64> for GeoMean {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut mean = Self::new();
        mean.extend(values);
        mean
    }
}

/// The interval of the geometric mean of ratios, `mean` > 0, from the intervals of its rows, all at the same level.
///
/// A row's standard error is taken from its interval, se = (ln hi − ln lo)/2z, and those of independent rows add as
/// √(Σ se²)/rows; the result is mean · exp(±z · se). z (3.92/2 at 95 %) cancels, so that the level is nowhere needed.
/// `None` if there is no row, or one without an interval: it could be anything, and so could the mean.
#[must_use]
pub fn geomean_interval(mean: f64, rows: &[Interval]) -> Option<Interval> {
    if rows.is_empty() || !rows.iter().all(|row| row.lo > 0.0 && row.hi.is_finite()) {
        return None;
    }
    let squares: f64 = rows
        .iter()
        .map(|row| (libm::log(row.hi) - libm::log(row.lo)).powi(2))
        .sum();
    let reach = squares.sqrt() / 2.0 / rows.len() as f64;
    Some(Interval {
        lo: mean * exp(-reach),
        hi: mean * exp(reach),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `benchstat -format csv` prints them.
    #[test]
    fn the_last_digit_is_the_one_that_the_reference_prints() {
        for (values, printed) in [
            (&[2.23286, 0.3943, 2.8][..], 1.350_875_838_500_444_5),
            (
                &[0.003_992_8, 0.008_316, 0.018_305, 0.008_496_3, 0.002_889_1],
                0.006_835_193_863_048_611,
            ),
        ] {
            let mean: GeoMean = values.iter().copied().collect();
            assert_eq!(mean.get(), Some(printed));
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-14
    }

    #[test]
    fn the_mean_of_values_is_the_root_of_their_product() {
        let mean: GeoMean = [2.0, 8.0, 4.0].into_iter().collect();
        assert!(close(mean.get().unwrap(), 4.0));
        assert_eq!(mean.count(), 3);
    }

    #[test]
    fn one_value_is_its_own_mean() {
        assert!(close(
            [1.718e-6].into_iter().collect::<GeoMean>().get().unwrap(),
            1.718e-6
        ));
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(GeoMean::new().get(), None);
    }

    #[test]
    fn values_of_any_size_do_not_overflow() {
        let mean: GeoMean = [1e300, 1e300, 1e300].into_iter().collect();
        assert!((mean.get().unwrap() / 1e300 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_one_row_is_that_row() {
        let row = Interval { lo: 0.8, hi: 1.25 };
        let interval = geomean_interval(1.0, &[row]).unwrap();
        assert!(close(interval.lo, row.lo) && close(interval.hi, row.hi));
    }

    #[test]
    fn four_equal_rows_halve_the_interval() {
        let rows = [Interval {
            lo: 0.9_f64.powi(2),
            hi: 0.9_f64.powi(-2),
        }; 4];
        let interval = geomean_interval(2.0, &rows).unwrap();
        assert!(close(interval.lo, 1.8) && close(interval.hi, 2.0 / 0.9));
    }

    #[test]
    fn the_standard_error_is_the_one_of_95_percent() {
        let rows = [
            Interval { lo: 0.95, hi: 1.1 },
            Interval { lo: 0.7, hi: 0.9 },
        ];
        let se = |row: &Interval| (row.hi.ln() - row.lo.ln()) / 3.92;
        let expected = (se(&rows[0]).powi(2) + se(&rows[1]).powi(2)).sqrt() / 2.0;
        let interval = geomean_interval(1.0, &rows).unwrap();
        assert!(close(interval.hi.ln() / 1.96, expected));
    }

    #[test]
    fn a_row_without_an_interval_leaves_none() {
        let open = Interval {
            lo: 0.0,
            hi: f64::INFINITY,
        };
        assert_eq!(
            geomean_interval(1.0, &[Interval { lo: 0.9, hi: 1.1 }, open]),
            None
        );
        assert_eq!(geomean_interval(1.0, &[]), None);
    }
}
