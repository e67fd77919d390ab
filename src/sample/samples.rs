//! What a builder yields.

use std::sync::Arc;

use bstr::{BString, ByteSlice};
use serde::{Serialize, Serializer};

use super::values::Values;

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Field {
    /// The key as projections name it; the same text for all keys of a projection.
    #[serde(serialize_with = "lossy_shared")]
    pub key: Arc<BString>,
    /// The value; empty where the key is missing.
    #[serde(serialize_with = "lossy_trimmed")]
    pub value: BString,
}

/// Serializes bytes that are text almost always; the exceptions lose what is not UTF-8.
pub(crate) fn lossy<S: Serializer>(text: &BString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text.to_str_lossy())
}

/// [`lossy`] for a shared text.
fn lossy_shared<S: Serializer>(text: &Arc<BString>, serializer: S) -> Result<S::Ok, S::Error> {
    lossy(text, serializer)
}

/// [`lossy`] without the blanks at the end, which some systems have in the name of the processor, and which tell nothing.
fn lossy_trimmed<S: Serializer>(text: &BString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text.trim_end().to_str_lossy())
}

/// [`lossy_trimmed`] for a list.
pub(crate) fn lossy_list<S: Serializer>(
    texts: &[BString],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(|text| text.trim_end().to_str_lossy()))
}

/// All samples of a run, in tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// In the order to show.
    pub tables: Vec<SampleTable>,
    /// The fields of the column keys of all tables, in the order to show.
    pub columns: Vec<Vec<Field>>,
}

/// The samples of one unit under one table key.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleTable {
    /// The fields of the table key, but for the unit.
    pub key: Vec<Field>,
    /// The unit of all values.
    pub unit: BString,
    /// The fields of each column key, in the order to show.
    pub columns: Vec<Vec<Field>>,
    /// Which columns of the run they are: indices of [`Samples::columns`], ascending.
    pub places: Vec<usize>,
    /// The fields of each row key, in the order to show; tables share them.
    pub rows: Vec<Arc<[Field]>>,
    /// For each row the samples that there are, each with the index of its column, ascending. Tables may have many columns
    /// that rarely meet, so that there is nothing here for those without results.
    pub samples: Vec<Vec<(usize, Sample)>>,
}

/// The values of one row and column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// In the order read, in the unit of the table, at least one.
    pub values: Values,
    /// The round of each value, counted from 1, and 0 where none is known; empty where that is so of all.
    pub rounds: Vec<u32>,
    /// The keys that no projection names and in which the results differ.
    pub varying: Vec<BString>,
}
