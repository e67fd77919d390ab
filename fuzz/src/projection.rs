//! Projections: printing and reading again, and keys that mean the same each time.

use std::cmp::Ordering;

use rbenchstat::query::{KeyId, Layout, Projection, Projectors};

use super::subjects;

/// Checks `data` as a projection, and its parts between line feeds as those of a run.
///
/// # Panics
/// Where something does not hold.
pub fn check(data: &[u8]) {
    let parts = data.split(|&byte| byte == b'\n').take(4);
    let mut parsed: Vec<Projection> = parts.filter_map(check_one).collect();
    if parsed.is_empty() {
        return;
    }
    parsed.resize(4, Projection::default());
    let layout = || {
        let [table, row, column] = [0, 1, 2].map(|at| parsed[at].clone());
        Layout::new(table, row, column, &parsed[3])
    };
    let (layout, again) = (layout(), layout());
    let (mut projectors, mut others) = (layout.projectors(), again.projectors());
    subjects::each(|subject| {
        let placement = projectors
            .project(subject, 0)
            .map(|placement| format!("{placement:?}"));
        assert_eq!(placement.is_some(), layout.keeps(subject));
        let other = others
            .project(subject, 0)
            .map(|placement| format!("{placement:?}"));
        assert_eq!(placement, other);
    });
    check_order(&projectors);
}

fn check_one(query: &[u8]) -> Option<Projection> {
    match Projection::parse(query) {
        Ok(projection) => {
            let printed = projection.to_string();
            let again =
                Projection::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
            assert_eq!(again, projection, "{printed}");
            assert_eq!(again.to_string(), printed);
            Some(projection)
        }
        Err(error) => {
            assert!(error.offset() <= query.len());
            assert!(!error.message().is_empty());
            assert!(error.render().ends_with(b"^"));
            None
        }
    }
}

fn check_order(projectors: &Projectors) {
    for projector in [
        &projectors.table,
        &projectors.row,
        &projectors.column,
        &projectors.residue,
    ] {
        let sorted = projector.sort();
        let mut numbers: Vec<usize> = sorted.iter().map(|id| id.index()).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..projector.len()));
        for pair in sorted.windows(2) {
            assert_ne!(projector.compare(pair[0], pair[1]), Ordering::Greater);
            assert_eq!(
                projector.compare(pair[0], pair[1]),
                projector.compare(pair[1], pair[0]).reverse()
            );
        }
        let all: Vec<_> = projector.names().collect();
        for id in projector.ids() {
            let named: Vec<_> = projector.values(id).map(|(name, _)| name).collect();
            assert_eq!(named, all);
            assert!(projector.varying(&[id, id]).is_empty());
        }
        let ids: Vec<KeyId> = projector.ids().collect();
        assert_eq!(projector.varying(&ids).is_empty(), ids.len() < 2);
    }
}
