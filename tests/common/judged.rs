//! Verdicts on values made up in a test.

use std::sync::Arc;

use rbenchstat::judge::{Judged, Judging, Provenance, judge};
use rbenchstat::report::{Settings, build};
use rbenchstat::sample::{Field, Sample, SampleTable, Samples};
use rbenchstat::unit::Metadata;

/// What comes of rows of times, each with its values on the old and on the new side; in rounds, the first values are of the first
/// round, and so on.
pub fn judged(rows: Vec<[Vec<f64>; 2]>, in_rounds: bool, judging: &Judging) -> Judged {
    let field = |key: &str, value: String| {
        vec![Field {
            key: Arc::new(key.into()),
            value: value.into(),
        }]
    };
    let columns = vec![field(".file", "old".into()), field(".file", "new".into())];
    let sample = |values: Vec<f64>| Sample {
        rounds: if in_rounds {
            (1..).take(values.len()).collect()
        } else {
            Vec::new()
        },
        values: values.into_iter().collect(),
        varying: Vec::new(),
    };
    let names = 0..rows.len();
    let samples = rows.into_iter().map(|sides| {
        let cells = sides.into_iter().map(sample).enumerate();
        cells.collect()
    });
    let samples = Samples {
        tables: vec![SampleTable {
            key: Vec::new(),
            unit: "sec/op".into(),
            columns: columns.clone(),
            places: vec![0, 1],
            samples: samples.collect(),
            rows: names
                .map(|row| field(".fullname", row.to_string()).into())
                .collect(),
        }],
        columns,
    };
    let report = build(samples, &Metadata::default(), Settings::default());
    judge(report, judging, Provenance::default()).expect("no unit is asked for")
}
