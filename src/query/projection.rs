//! The projection language: which keys make up a table, a row or a column.
//!
//! ```text
//! projection = [field {[","] field}]
//! field      = key ["@" order]
//! order      = "alpha" | "num" | "first" | "fixed" | "(" value {value} ")"
//! ```

use std::fmt;
use std::ops::Range;

use nom::Parser;
use nom::combinator::opt;
use nom::multi::many0;

use super::error::SyntaxError;
use super::key::Key;
use super::lex::{
    Parsed, Slash, Token, WordPlace, ahead, decline, fail, lexeme, quote, symbol, write_word,
};
use super::sort::ValueOrder;

/// An ordered list of keys, each with the order of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    fields: Vec<ProjectedKey>,
}

/// A key of a projection.
#[derive(Clone, Debug)]
pub struct ProjectedKey {
    /// What it reads; never [`Key::Unit`].
    pub key: Key,
    /// How its values are ordered. The members of [`Key::Config`] have an order of their own.
    pub order: ValueOrder,
    /// Where the key stands in the query, in bytes.
    pub span: Range<usize>,
}

// Where a field stands is no part of what it says.
impl PartialEq for ProjectedKey {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.order == other.order
    }
}

impl Eq for ProjectedKey {}

impl Projection {
    /// Reads a projection. An empty one is valid: it has one key, of no values.
    ///
    /// # Errors
    /// The first mistake in `query`, with its place.
    pub fn parse(query: impl AsRef<[u8]>) -> Result<Self, SyntaxError> {
        let query = query.as_ref();
        let parsed = fields(query).and_then(|(_, drafts)| {
            let fields = drafts.into_iter().map(|draft| draft.resolve(query));
            fields.collect::<Result<_, _>>()
        });
        match parsed {
            Ok(fields) => Ok(Self { fields }),
            Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => Err(fault.within(query)),
            // Only parsers of streams ask for more input.
            Err(nom::Err::Incomplete(_)) => Err(SyntaxError::new(
                "unexpected end".into(),
                query,
                query.len(),
            )),
        }
    }

    /// The keys in order.
    #[must_use]
    pub fn fields(&self) -> &[ProjectedKey] {
        &self.fields
    }
}

impl FromIterator<ProjectedKey> for Projection {
    fn from_iter<T: IntoIterator<Item = ProjectedKey>>(fields: T) -> Self {
        Self {
            fields: fields.into_iter().collect(),
        }
    }
}

/// A field as it was read. Whether its words mean anything is asked only when
/// the whole query has been read, as errors of the grammar come first.
struct ProjectionDraft<'a> {
    /// The query from the key on.
    from: &'a [u8],
    /// The query after the key.
    after: &'a [u8],
    key: Key,
    order: Option<(&'a [u8], DraftOrder)>,
}

enum DraftOrder {
    Named(Vec<u8>),
    List(Vec<Vec<u8>>),
}

impl<'a> ProjectionDraft<'a> {
    fn resolve(
        self,
        query: &'a [u8],
    ) -> Result<ProjectedKey, nom::Err<super::lex::ParseFault<'a>>> {
        let (place, order) = match self.order {
            None => (self.from, ValueOrder::First),
            Some((place, DraftOrder::List(values))) => {
                let values = values.into_iter().map(Into::into).collect();
                (place, ValueOrder::Fixed(values))
            }
            Some((place, DraftOrder::Named(name))) => {
                let order = match name.as_slice() {
                    b"first" => ValueOrder::First,
                    b"alpha" => ValueOrder::Alpha,
                    b"num" => ValueOrder::Num,
                    // The order of lists, of a list that holds nothing: drops every result.
                    b"fixed" => ValueOrder::Fixed(Vec::new()),
                    _ => return Err(fail(place, format!("unknown order {}", quote(&name)))),
                };
                (place, order)
            }
        };
        match (&self.key, &order) {
            (Key::Unit, _) => Err(fail(self.from, ".unit is only allowed in filters")),
            (Key::Configuration(key), _) if key.is_empty() => {
                Err(fail(self.from, "key must not be empty"))
            }
            (Key::Config, ValueOrder::Fixed(_)) => {
                Err(fail(place, "fixed order not allowed for .config"))
            }
            _ => Ok(ProjectedKey {
                span: query.len() - self.from.len()..query.len() - self.after.len(),
                key: self.key,
                order,
            }),
        }
    }
}

fn fields(input: &[u8]) -> Parsed<'_, Vec<ProjectionDraft<'_>>> {
    let (rest, next) = ahead(Slash::Word).parse(input)?;
    if let Token::End = next.token {
        return Ok((rest, Vec::new()));
    }
    let (rest, first) = field(input)?;
    let (rest, mut drafts) = many0(following_field).parse(rest)?;
    drafts.insert(0, first);
    Ok((rest, drafts))
}

/// A field with the comma before it, if there is one; declines the end of the query.
fn following_field(input: &[u8]) -> Parsed<'_, ProjectionDraft<'_>> {
    let (rest, comma) = opt(symbol(',')).parse(input)?;
    if comma.is_none() {
        let (_, next) = ahead(Slash::Word).parse(rest)?;
        if let Token::End = next.token {
            return Err(decline(next.from, "the end"));
        }
    }
    field(rest)
}

fn field(input: &[u8]) -> Parsed<'_, ProjectionDraft<'_>> {
    let (after, first) = lexeme(Slash::Word).parse(input)?;
    let Token::Word(word) = first.token else {
        return Err(fail(first.from, "expected key"));
    };
    let (rest, order) = order(after)?;
    let draft = ProjectionDraft {
        from: first.from,
        after,
        key: Key::from_word(&word),
        order,
    };
    Ok((rest, draft))
}

/// The order after a key, if there is an `@`, and the place it starts at.
fn order(input: &[u8]) -> Parsed<'_, Option<(&[u8], DraftOrder)>> {
    // A word that cannot be read is an error even where no word may stand.
    let (_, next) = ahead(Slash::Word).parse(input)?;
    if !matches!(next.token, Token::Operator(b'@')) {
        return Ok((input, None));
    }
    let (rest, _) = symbol('@').parse(input)?;
    let (rest, next) = lexeme(Slash::Word).parse(rest)?;
    let (rest, order) = match next.token {
        Token::Word(name) => (rest, DraftOrder::Named(name.into_owned())),
        Token::Operator(b'(') => list(rest)?,
        _ => {
            return Err(fail(
                next.from,
                "expected named sort order or parenthesized list",
            ));
        }
    };
    Ok((rest, Some((next.from, order))))
}

/// The values of a list, of which the opening parenthesis is read, up to the closing one.
fn list(input: &[u8]) -> Parsed<'_, DraftOrder> {
    let (rest, values) = many0(word).parse(input)?;
    let (rest, next) = lexeme(Slash::Word).parse(rest)?;
    match next.token {
        Token::Operator(b')') if values.is_empty() => Err(fail(next.from, "nothing to match")),
        Token::Operator(b')') => Ok((rest, DraftOrder::List(values))),
        _ => Err(fail(next.from, "missing )")),
    }
}

fn word(input: &[u8]) -> Parsed<'_, Vec<u8>> {
    let (rest, next) = lexeme(Slash::Word).parse(input)?;
    match next.token {
        Token::Word(word) => Ok((rest, word.into_owned())),
        _ => Err(decline(next.from, "a word")),
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            write!(out, "{field}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ProjectedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.key)?;
        match &self.order {
            ValueOrder::First => Ok(()),
            ValueOrder::Alpha => out.write_str("@alpha"),
            ValueOrder::Num => out.write_str("@num"),
            ValueOrder::Fixed(values) if values.is_empty() => out.write_str("@fixed"),
            ValueOrder::Fixed(values) => {
                for (index, value) in values.iter().enumerate() {
                    out.write_str(if index == 0 { "@(" } else { " " })?;
                    write_word(out, value, WordPlace::Key)?;
                }
                out.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_separated_by_spaces_or_commas() {
        let expected = Projection::parse(".name,/size@num,goos@(darwin linux),.config").unwrap();
        for query in [
            ".name /size @ num goos@( darwin linux ) .config",
            "\".name\" , /size@\"num\",goos@(\"darwin\"linux).config",
            " .name@first\t/size@num\u{3000}goos@(darwin linux),.config@first ",
        ] {
            assert_eq!(Projection::parse(query).as_ref(), Ok(&expected), "{query}");
        }
        let keys: Vec<_> = expected.fields().iter().map(|field| &field.key).collect();
        assert_eq!(
            keys,
            [
                &Key::Name,
                &Key::Sub("size".into()),
                &Key::Configuration("goos".into()),
                &Key::Config
            ]
        );
        assert_eq!(expected.fields()[1].span, 6..11);
        assert_eq!(Projection::parse("  ").unwrap().fields(), []);
    }

    #[test]
    fn values_are_no_regular_expressions_here() {
        let projection = Projection::parse("/a@(/x y/ [/)").unwrap();
        let values = ["/x", "y/", "[/"].map(Into::into).to_vec();
        assert_eq!(projection.fields()[0].order, ValueOrder::Fixed(values));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (query, message, offset) in [
            (",a", "expected key", 0),
            ("a,,b", "expected key", 2),
            ("a,b, ", "expected key", 5),
            ("a:b", "expected key", 1),
            ("a -b", "expected key", 2),
            ("a OR b", "expected key", 2),
            ("a@(b)@c", "expected key", 5),
            ("a@", "expected named sort order or parenthesized list", 2),
            (
                "a@AND",
                "expected named sort order or parenthesized list",
                2,
            ),
            ("a@bogus", "unknown order \"bogus\"", 2),
            ("é@al\"pha", "unknown order \"al\\\"pha\"", 3),
            ("a@\"\\x00\u{200b}\"", "unknown order \"\\x00\\u200b\"", 2),
            ("a@()", "nothing to match", 3),
            ("a@(b", "missing )", 4),
            ("a@(b,c)", "missing )", 4),
            ("a \"b", "missing end quote", 2),
            ("a@(\"\\q\")", "bad escape sequence", 3),
            ("\"\"", "key must not be empty", 0),
            ("a .unit@num", ".unit is only allowed in filters", 2),
            (".config@(a)", "fixed order not allowed for .config", 8),
            (".config @ fixed", "fixed order not allowed for .config", 10),
        ] {
            let error = Projection::parse(query).unwrap_err();
            assert_eq!(
                (error.message(), error.offset()),
                (message, offset),
                "{query}"
            );
        }
    }

    #[test]
    fn mistakes_of_grammar_come_before_those_of_meaning() {
        for (query, message) in [
            (
                ".unit,b@",
                "expected named sort order or parenthesized list",
            ),
            ("a@bogus \"b", "missing end quote"),
            (".unit@bogus", "unknown order \"bogus\""),
            (".unit,a@bogus", ".unit is only allowed in filters"),
            ("\"\",.unit", "key must not be empty"),
        ] {
            let error = Projection::parse(query).unwrap_err();
            assert_eq!(error.message(), message, "{query}");
        }
    }

    fn field() -> impl Strategy<Value = ProjectedKey> {
        let word = prop_oneof![
            "[a-z./@(é\" -]{1,4}",
            prop::sample::select(vec![".name", "AND", "a\\", "\u{200b}"]).prop_map(String::from),
        ];
        let value = prop::collection::vec(any::<u8>(), 0..4);
        let order = prop_oneof![
            Just(ValueOrder::First),
            Just(ValueOrder::Alpha),
            Just(ValueOrder::Num),
            prop::collection::vec(value, 0..3)
                .prop_map(|values| ValueOrder::Fixed(values.into_iter().map(Into::into).collect())),
        ];
        (word, order).prop_map(|(word, order)| ProjectedKey {
            key: Key::from_word(word.as_bytes()),
            order,
            span: 0..0,
        })
    }

    proptest! {
        #[test]
        fn a_printed_projection_reads_back_the_same(
            fields in prop::collection::vec(field(), 0..4),
        ) {
            let projection: Projection = fields.into_iter().collect();
            let printed = projection.to_string();
            prop_assert_eq!(Projection::parse(&printed), Ok(projection), "{}", printed);
        }

        #[test]
        fn any_bytes_are_read_without_panic(query: Vec<u8>) {
            let _ = Projection::parse(query).map_err(|error| error.render());
        }
    }
}
