//! Filters: printing and reading again, and the laws of logic.

use rbenchstat::query::{Filter, Selected, Subject};

use super::subjects::{self, UNITS};

/// Checks `data` as a filter.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    let filter = match Filter::parse(data) {
        Ok(filter) => filter,
        Err(error) => {
            assert!(error.offset() <= data.len());
            assert!(!error.message().is_empty());
            assert!(error.render().ends_with(b"^"));
            return;
        }
    };
    let printed = filter.to_string();
    let again = Filter::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert_eq!(again, filter, "{printed}");
    assert_eq!(again.to_string(), printed);
    let wrapped = |before: &str, after: &str| {
        let query = [before.as_bytes(), data, after.as_bytes()].concat();
        match Filter::parse(&query) {
            Ok(filter) => Some(filter),
            // One level more may be one too many.
            Err(error) => {
                assert!(error.message().contains("deep"), "{error}");
                None
            }
        }
    };
    let (not, twice) = (wrapped("-(", ")"), wrapped("--(", ")"));
    let (none, all) = (wrapped("-* (", ")"), wrapped("(", ") OR *"));
    subjects::each(|subject| {
        let kept = kept(&filter, subject);
        assert_eq!(self::kept(&again, subject), kept);
        for (other, expected) in [
            (&not, kept.map(|kept| !kept)),
            (&twice, kept),
            (&none, kept.map(|_| false)),
            (&all, kept.map(|_| true)),
        ] {
            if let Some(other) = other {
                assert_eq!(self::kept(other, subject), expected, "{other}");
            }
        }
    });
}

/// Which measurements of a result the filter keeps.
fn kept(filter: &Filter, subject: &Subject<'_>) -> [bool; UNITS.len()] {
    let outcome = filter.apply(subject);
    std::array::from_fn(|at| match &outcome {
        Selected::Keep => true,
        Selected::Drop => false,
        Selected::ByUnit(units) => units.matches(UNITS[at].0, UNITS[at].1),
    })
}
