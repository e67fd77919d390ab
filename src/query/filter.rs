//! The filter language: which results and measurements to keep.
//!
//! ```text
//! expression  = conjunction {"OR" conjunction}
//! conjunction = term {"AND" | term}
//! term        = "(" expression ")" | "-" term | "*" | key ":" values
//! values      = value | "(" value {"OR" value} ")"
//! value       = word | "/" regular expression "/"
//! ```

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bstr::BString;
use go_regexp::Regexp;
use nom::Parser;
use nom::branch::alt;
use nom::combinator::cut;
use nom::multi::{fold_many0, separated_list1};

use super::error::SyntaxError;
use super::key::{Key, Subject};
use super::lex::{
    Lexeme, ParseFault, Parsed, Slash, Token, WordPlace, decline, fail, lexeme, quote, write_word,
};

/// How deep parentheses and minus signs may nest: evaluation recurses.
const DEEPEST: usize = 200;

/// A filter, ready to be asked.
///
/// Two filters are equal when they print the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    expression: Expression,
}

/// What a filter says about a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// Keep all measurements.
    Keep,
    /// Drop all measurements.
    Drop,
    /// It depends on the unit of each measurement.
    ByUnit(UnitFilter),
}

/// What is left of a filter when everything but the unit is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFilter {
    /// Never holds a term whose key is not `.unit`.
    expression: Expression,
}

/// An expression of the filter language.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Everything,
    Match(Arc<Match>),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

/// `key:value` or `key:(value OR value)`.
#[derive(Clone, Debug)]
struct Match {
    key: Key,
    values: Vec<FilterValue>,
    /// Of the key, in bytes of the query.
    span: Range<usize>,
}

// Where a term stands is no part of what it says.
impl PartialEq for Match {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.values == other.values
    }
}

impl Eq for Match {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FilterValue {
    /// Matches the whole of a text.
    Text(BString),
    /// Matches any part of a text.
    Regexp(Regexp),
}

/// Keeps everything.
impl Default for Filter {
    fn default() -> Self {
        Self {
            expression: Expression::Everything,
        }
    }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// The first mistake in `query`, with its place.
    pub fn parse(query: impl AsRef<[u8]>) -> Result<Self, SyntaxError> {
        let query = query.as_ref();
        let grammar = Grammar { query };
        match grammar.filter(query) {
            Ok((_, expression)) => {
                check_keys(&expression, query)?;
                Ok(Self { expression })
            }
            Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => Err(fault.within(query)),
            // Only parsers of streams ask for more input.
            Err(nom::Err::Incomplete(_)) => Err(SyntaxError::new(
                "unexpected end".into(),
                query,
                query.len(),
            )),
        }
    }

    /// Whether this filter keeps everything, so that there is no need to ask.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        self.expression == Expression::Everything
    }

    /// The filter that drops the results of which `key` has one of `values`, and keeps all others.
    #[must_use]
    pub fn without(key: &Key, values: impl IntoIterator<Item = BString>) -> Self {
        let term = Match {
            key: key.clone(),
            values: values.into_iter().map(FilterValue::Text).collect(),
            span: 0..0,
        };
        Self {
            expression: Expression::Not(Box::new(Expression::Match(Arc::new(term)))),
        }
    }

    /// The filter that keeps what both keep.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            expression: Expression::All(vec![self.expression, other.expression]),
        }
    }

    /// The keys in the order of the query.
    #[must_use]
    pub fn keys(&self) -> Vec<&Key> {
        fn collect<'f>(expression: &'f Expression, keys: &mut Vec<&'f Key>) {
            match expression {
                Expression::Everything => {}
                Expression::Match(term) => keys.push(&term.key),
                Expression::Not(inner) => collect(inner, keys),
                Expression::All(terms) | Expression::Any(terms) => {
                    for term in terms {
                        collect(term, keys);
                    }
                }
            }
        }
        let mut keys = Vec::new();
        collect(&self.expression, &mut keys);
        keys
    }

    /// What this filter says about a result, as far as can be told without units.
    #[must_use]
    pub fn apply(&self, subject: &Subject<'_>) -> Selected {
        match self.expression.reduce(subject) {
            Reduced::Known(true) => Selected::Keep,
            Reduced::Known(false) => Selected::Drop,
            Reduced::Unknown(expression) => Selected::ByUnit(UnitFilter { expression }),
        }
    }
}

impl UnitFilter {
    /// Whether to keep a measurement; a term matches if it matches either spelling of the unit.
    #[must_use]
    pub fn matches(&self, tidied_unit: &[u8], written_unit: &[u8]) -> bool {
        self.expression.holds(tidied_unit, written_unit)
    }
}

/// The value of an expression, or what is left of it to find out.
enum Reduced {
    Known(bool),
    Unknown(Expression),
}

impl Expression {
    fn reduce(&self, subject: &Subject<'_>) -> Reduced {
        match self {
            Self::Everything => Reduced::Known(true),
            Self::Match(term) if term.key == Key::Unit => Reduced::Unknown(self.clone()),
            Self::Match(term) => Reduced::Known(term.accepts(term.key.value(subject))),
            Self::Not(inner) => match inner.reduce(subject) {
                Reduced::Known(value) => Reduced::Known(!value),
                Reduced::Unknown(rest) => Reduced::Unknown(Self::Not(Box::new(rest))),
            },
            Self::All(terms) => reduce_list(terms, subject, false),
            Self::Any(terms) => reduce_list(terms, subject, true),
        }
    }

    fn holds(&self, tidied: &[u8], written: &[u8]) -> bool {
        match self {
            Self::Everything => true,
            Self::Match(term) => term.accepts(tidied) || term.accepts(written),
            Self::Not(inner) => !inner.holds(tidied, written),
            Self::All(terms) => terms.iter().all(|term| term.holds(tidied, written)),
            Self::Any(terms) => terms.iter().any(|term| term.holds(tidied, written)),
        }
    }

    /// One of several alternatives or requirements needs no list around it.
    fn list(mut terms: Vec<Self>, wrap: impl FnOnce(Vec<Self>) -> Self) -> Self {
        match terms.len() {
            1 => terms.swap_remove(0),
            _ => wrap(terms),
        }
    }
}

/// Reduces a list of which one term of value `decisive` decides the whole.
fn reduce_list(terms: &[Expression], subject: &Subject<'_>, decisive: bool) -> Reduced {
    let mut open = Vec::new();
    for term in terms {
        match term.reduce(subject) {
            Reduced::Known(value) if value == decisive => return Reduced::Known(decisive),
            Reduced::Known(_) => {}
            Reduced::Unknown(rest) => open.push(rest),
        }
    }
    if open.is_empty() {
        return Reduced::Known(!decisive);
    }
    let wrap = if decisive {
        Expression::Any
    } else {
        Expression::All
    };
    Reduced::Unknown(Expression::list(open, wrap))
}

impl Match {
    fn accepts(&self, text: &[u8]) -> bool {
        self.values.iter().any(|value| match value {
            FilterValue::Text(wanted) => wanted == text,
            FilterValue::Regexp(regexp) => regexp.is_match(text),
        })
    }
}

/// Checks what the grammar leaves open, in the order of the query. A mistake in
/// the grammar anywhere is reported before these.
fn check_keys(expression: &Expression, query: &[u8]) -> Result<(), SyntaxError> {
    let fault = |message: &str, span: &Range<usize>| {
        Err(SyntaxError::new(message.into(), query, span.start))
    };
    match expression {
        Expression::Everything => Ok(()),
        Expression::Match(term) => match &term.key {
            Key::Config => fault(".config is only allowed in projections", &term.span),
            Key::Configuration(key) if key.is_empty() => fault("key must not be empty", &term.span),
            _ => Ok(()),
        },
        Expression::Not(inner) => check_keys(inner, query),
        Expression::All(terms) | Expression::Any(terms) => {
            terms.iter().try_for_each(|term| check_keys(term, query))
        }
    }
}

/// The grammar of one query, which it keeps to tell spans.
#[derive(Clone, Copy)]
struct Grammar<'a> {
    query: &'a [u8],
}

impl<'a> Grammar<'a> {
    fn filter(self, input: &'a [u8]) -> Parsed<'a, Expression> {
        let (input, expression) = self.expression(input, 0)?;
        let (input, next) = lexeme(Slash::Word).parse(input)?;
        match next.token {
            Token::End => Ok((input, expression)),
            _ => Err(unexpected(&next)),
        }
    }

    fn expression(self, input: &'a [u8], depth: usize) -> Parsed<'a, Expression> {
        separated_list1(or, cut(move |input| self.conjunction(input, depth)))
            .map(|terms| Expression::list(terms, Expression::Any))
            .parse(input)
    }

    fn conjunction(self, input: &'a [u8], depth: usize) -> Parsed<'a, Expression> {
        let (input, first) = self.term(input, depth)?;
        fold_many0(
            // `AND` between terms may be left out, or be written where no term follows.
            alt((
                and.map(|()| None),
                (move |input| self.term(input, depth)).map(Some),
            )),
            move || vec![first.clone()],
            |mut terms, next| {
                terms.extend(next);
                terms
            },
        )
        .map(|terms| Expression::list(terms, Expression::All))
        .parse(input)
    }

    /// Declines anything that cannot start a term.
    fn term(self, input: &'a [u8], depth: usize) -> Parsed<'a, Expression> {
        let (rest, first) = lexeme(Slash::Word).parse(input)?;
        if depth > DEEPEST {
            return Err(fail(first.from, "expression nests too deeply"));
        }
        match first.token {
            Token::Operator(b'*') => Ok((rest, Expression::Everything)),
            Token::Operator(b'-') => cut(move |input| self.term(input, depth + 1))
                .map(|inner| Expression::Not(Box::new(inner)))
                .parse(rest),
            Token::Operator(b'(') => {
                let (rest, inner) = self.expression(rest, depth + 1)?;
                let (rest, next) = lexeme(Slash::Word).parse(rest)?;
                match next.token {
                    Token::Operator(b')') => Ok((rest, inner)),
                    Token::End => Err(fail(next.from, "missing \")\"")),
                    _ => Err(unexpected(&next)),
                }
            }
            Token::Word(word) => {
                let span = self.query.len() - first.from.len()..self.query.len() - rest.len();
                let (rest, values) = pair(rest, first.from)?;
                let key = Key::from_word(&word);
                let term = Match { key, values, span };
                Ok((rest, Expression::Match(Arc::new(term))))
            }
            _ => Err(decline(first.from, "expected key:value or subexpression")),
        }
    }
}

/// What follows a key: a colon and one or more values. `key` is where the key starts.
fn pair<'a>(input: &'a [u8], key: &'a [u8]) -> Parsed<'a, Vec<FilterValue>> {
    const EXPECTED: &str = "expected key:value";
    let (rest, colon) = lexeme(Slash::Word).parse(input)?;
    if !matches!(colon.token, Token::Operator(b':')) {
        return Err(fail(key, EXPECTED));
    }
    let (rest, next) = lexeme(Slash::Regexp).parse(rest)?;
    match next.token {
        Token::Operator(b'(') => value_list(rest),
        token => match into_value(token) {
            Some(value) => Ok((rest, vec![value])),
            None => Err(fail(key, EXPECTED)),
        },
    }
}

/// The values of a list, of which the opening parenthesis is read, up to the closing one.
fn value_list(input: &[u8]) -> Parsed<'_, Vec<FilterValue>> {
    let (rest, values) = separated_list1(list_or, cut(value)).parse(input)?;
    let (rest, next) = lexeme(Slash::Regexp).parse(rest)?;
    match next.token {
        Token::Operator(b')') => Ok((rest, values)),
        _ => Err(fail(next.from, "value list must be separated by OR")),
    }
}

fn value(input: &[u8]) -> Parsed<'_, FilterValue> {
    let (rest, next) = lexeme(Slash::Regexp).parse(input)?;
    match into_value(next.token) {
        Some(value) => Ok((rest, value)),
        None => Err(fail(next.from, "expected value")),
    }
}

fn into_value(token: Token<'_>) -> Option<FilterValue> {
    match token {
        Token::Word(word) => Some(FilterValue::Text(word.into_owned().into())),
        Token::Regexp(regexp) => Some(FilterValue::Regexp(regexp)),
        _ => None,
    }
}

fn and(input: &[u8]) -> Parsed<'_, ()> {
    let (rest, next) = lexeme(Slash::Word).parse(input)?;
    match next.token {
        Token::And => Ok((rest, ())),
        _ => Err(decline(next.from, "expected AND")),
    }
}

fn or(input: &[u8]) -> Parsed<'_, ()> {
    let (rest, next) = lexeme(Slash::Word).parse(input)?;
    match next.token {
        Token::Or => Ok((rest, ())),
        _ => Err(decline(next.from, "expected OR")),
    }
}

/// `OR` in a list of values, where a slash is a regular expression's.
fn list_or(input: &[u8]) -> Parsed<'_, ()> {
    let (rest, next) = lexeme(Slash::Regexp).parse(input)?;
    match next.token {
        Token::Or => Ok((rest, ())),
        _ => Err(decline(next.from, "expected OR")),
    }
}

/// The error of a token that nothing takes: always an operator, for words start terms.
fn unexpected<'a>(lexeme: &Lexeme<'a>) -> nom::Err<ParseFault<'a>> {
    fail(
        lexeme.from,
        format!("unexpected {}", quote(&lexeme.from[..1])),
    )
}

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.expression, out)
    }
}

impl fmt::Display for UnitFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.expression, out)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => out.write_str("*"),
            Self::Match(term) => fmt::Display::fmt(term, out),
            Self::Not(inner) => {
                out.write_str("-")?;
                inner.fmt_operand(out)
            }
            Self::All(terms) => fmt_list(out, terms, " "),
            Self::Any(terms) => fmt_list(out, terms, " OR "),
        }
    }
}

impl Expression {
    /// Prints with parentheses around lists, so that nothing depends on precedence.
    fn fmt_operand(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(_) | Self::Any(_) => write!(out, "({self})"),
            _ => fmt::Display::fmt(self, out),
        }
    }
}

fn fmt_list(out: &mut fmt::Formatter<'_>, terms: &[Expression], separator: &str) -> fmt::Result {
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            out.write_str(separator)?;
        }
        term.fmt_operand(out)?;
    }
    Ok(())
}

impl fmt::Display for Match {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.key)?;
        if let [value] = self.values.as_slice() {
            return fmt::Display::fmt(value, out);
        }
        out.write_str("(")?;
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                out.write_str(" OR ")?;
            }
            fmt::Display::fmt(value, out)?;
        }
        out.write_str(")")
    }
}

impl fmt::Display for FilterValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write_word(out, text, WordPlace::Value),
            Self::Regexp(regexp) => write!(out, "/{regexp}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Configuration, Name};

    fn outcome(query: &str, name: &str) -> Selected {
        let mut configuration = Configuration::new("new.txt");
        configuration.set(b"goos", b"linux");
        let subject = Subject {
            name: Name::new(name.as_bytes()),
            configuration: &configuration,
        };
        Filter::parse(query).unwrap().apply(&subject)
    }

    fn keeps(query: &str, name: &str) -> bool {
        match outcome(query, name) {
            Selected::Keep => true,
            Selected::Drop => false,
            Selected::ByUnit(rest) => panic!("{query} depends on {rest}"),
        }
    }

    #[test]
    fn literals_match_the_whole_value_and_expressions_any_part() {
        for (query, expected) in [
            ("*", true),
            ("-*", false),
            ("--*", true),
            (".name:Copy", true),
            (".name:Cop", false),
            (".name:/op/", true),
            ("/size:(4k OR /^1/)", true),
            ("goos:linux .file:new.txt", true),
            ("goos:linux AND -.file:/new/", false),
            ("goos:darwin OR /gomaxprocs:8", true),
            ("goos:darwin .name:Copy OR /size:4k", true),
            ("goos:darwin (.name:Copy OR /size:4k)", false),
            ("nosuch:\"\" .bogus:\"\"", true),
            (".name:\"C\\x6fpy\" AND", true),
            (".fullname:/e=4k\\/x-8$/", true),
        ] {
            assert_eq!(keeps(query, "Copy/size=4k/x-8"), expected, "{query}");
        }
    }

    #[test]
    fn what_depends_on_the_unit_is_left_to_ask() {
        for (query, rest) in [
            (".unit:ns/op", ".unit:ns/op"),
            (".name:Copy .unit:ns/op", ".unit:ns/op"),
            (".name:Move OR -.unit:ns/op", "-.unit:ns/op"),
            (
                ".unit:a (.unit:b OR .name:Move OR .unit:(c OR d)) .name:Copy",
                ".unit:a (.unit:b OR .unit:(c OR d))",
            ),
        ] {
            match outcome(query, "Copy") {
                Selected::ByUnit(filter) => assert_eq!(filter.to_string(), rest),
                decided => panic!("{query}: {decided:?}"),
            }
        }
        assert_eq!(outcome(".name:Move .unit:ns/op", "Copy"), Selected::Drop);
        assert_eq!(outcome(".name:Copy OR .unit:ns/op", "Copy"), Selected::Keep);
    }

    #[test]
    fn a_unit_is_matched_as_written_and_tidied() {
        let Selected::ByUnit(filter) = outcome("-.unit:(ns/op OR B/s)", "Copy") else {
            panic!("depends on the unit");
        };
        assert!(!filter.matches(b"sec/op", b"ns/op"));
        assert!(!filter.matches(b"B/s", b"MB/s"));
        assert!(filter.matches(b"sec/op", b"sec/op"));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (query, message, offset) in [
            ("", "expected key:value or subexpression", 0),
            ("OR x:y", "expected key:value or subexpression", 0),
            ("x:y OR", "expected key:value or subexpression", 6),
            ("x:y OR AND z:w", "expected key:value or subexpression", 7),
            ("- )", "expected key:value or subexpression", 2),
            ("()", "expected key:value or subexpression", 1),
            ("x", "expected key:value", 0),
            ("x:y é@z", "expected key:value", 4),
            ("x:", "expected key:value", 0),
            ("x:*", "expected key:value", 0),
            ("x:OR", "expected key:value", 0),
            ("x:()", "expected value", 3),
            ("x:(y OR", "expected value", 7),
            ("x:((y))", "expected value", 3),
            ("x:(y z)", "value list must be separated by OR", 5),
            ("x:(y", "value list must be separated by OR", 4),
            ("(x:y", "missing \")\"", 4),
            ("x:y)", "unexpected \")\"", 3),
            ("(x:y,z:w)", "unexpected \",\"", 4),
            ("x:y:z", "unexpected \":\"", 3),
            ("x:y@z", "unexpected \"@\"", 3),
            ("x:\"y", "missing end quote", 2),
            ("x:\"y\\\\\"", "missing end quote", 2),
            ("x:\"\\q\"", "bad escape sequence", 2),
            ("x:\"\\ud800\"", "bad escape sequence", 2),
            ("x:\"\\400\"", "bad escape sequence", 2),
            ("x:\"\n\"", "bad escape sequence", 2),
            ("x:/y", "missing close \"/\"", 2),
            ("x:/(/", "missing close \"/\"", 2),
            ("x:/[[]/", "missing close \"/\"", 2),
            (
                "x:/y/z",
                "regexp must be followed by space or an operator (unescaped \"/\"?)",
                5,
            ),
            (
                "x:/*/",
                "error parsing regexp: missing argument to repetition operator: `*`",
                2,
            ),
            (".config:x", ".config is only allowed in projections", 0),
            ("x:y -\"\":z", "key must not be empty", 5),
        ] {
            let error = Filter::parse(query).unwrap_err();
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
            (".config:x \"y", "missing end quote"),
            ("\"\":x )", "unexpected \")\""),
            (
                "x:/*/z",
                "error parsing regexp: missing argument to repetition operator: `*`",
            ),
            (".config:x \"\":y", ".config is only allowed in projections"),
            // A place the parser has not come to is not read.
            ("x:y ) \"", "unexpected \")\""),
        ] {
            assert_eq!(
                Filter::parse(query).unwrap_err().message(),
                message,
                "{query}"
            );
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| format!("{}*{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Filter::parse(nested(DEEPEST)).is_ok());
        let error = Filter::parse(nested(DEEPEST + 1)).unwrap_err();
        assert_eq!(error.message(), "expression nests too deeply");
        assert_eq!(error.offset(), DEEPEST + 1);
    }

    fn a_match(keys: &'static [&'static str]) -> impl Strategy<Value = Expression> {
        let value = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..4)
                .prop_map(|text| FilterValue::Text(text.into())),
            prop::sample::select(vec![
                "a", "OR", "/x", "-", "a\\", "\\", "\"", "ns/op", "B/s"
            ])
            .prop_map(|text| FilterValue::Text(text.into())),
            prop::sample::select(vec!["", "a", "[/]", "(a/b)+", r"\/\\", "s"])
                .prop_map(|source| FilterValue::Regexp(source.parse().unwrap())),
        ];
        let values = prop::collection::vec(value, 1..4);
        (prop::sample::select(keys), values).prop_map(|(key, values)| {
            Expression::Match(Arc::new(Match {
                key: Key::from_word(key.as_bytes()),
                values,
                span: 0..0,
            }))
        })
    }

    fn expression() -> impl Strategy<Value = Expression> {
        const KEYS: &[&str] = &[
            ".name", ".unit", "/a", "goos", "-x", "a b", "é", "*", "\u{1}",
        ];
        let leaf = prop_oneof![Just(Expression::Everything), a_match(KEYS)];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let terms = prop::collection::vec(inner.clone(), 2..4);
            prop_oneof![
                inner.prop_map(|inner| Expression::Not(Box::new(inner))),
                terms.clone().prop_map(Expression::All),
                terms.prop_map(Expression::Any),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_printed_filter_reads_back_the_same(expression in expression()) {
            let filter = Filter { expression };
            let printed = filter.to_string();
            prop_assert_eq!(Filter::parse(&printed), Ok(filter), "{}", printed);
        }

        #[test]
        fn any_text_is_a_filter_or_has_a_mistake_in_it(
            query in r#"([ab:()/\[\]\\"* ,@é-]|OR|AND|\.name:|/a/){0,12}"#,
        ) {
            match Filter::parse(&query) {
                Ok(filter) => prop_assert_eq!(Filter::parse(filter.to_string()), Ok(filter)),
                Err(error) => prop_assert!(error.offset() <= query.len()),
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(query: Vec<u8>) {
            let _ = Filter::parse(query).map_err(|error| error.render());
        }

        #[test]
        fn asking_in_two_steps_gives_what_each_measurement_would(
            expression in expression(),
            name in "(a|Copy)(/a=[ab])?",
        ) {
            fn directly(expression: &Expression, subject: &Subject<'_>, unit: &[u8]) -> bool {
                match expression {
                    Expression::Everything => true,
                    Expression::Match(term) if term.key == Key::Unit => term.accepts(unit),
                    Expression::Match(term) => term.accepts(term.key.value(subject)),
                    Expression::Not(inner) => !directly(inner, subject, unit),
                    Expression::All(terms) => terms.iter().all(|term| directly(term, subject, unit)),
                    Expression::Any(terms) => terms.iter().any(|term| directly(term, subject, unit)),
                }
            }
            let configuration = Configuration::new("");
            let subject = Subject { name: Name::new(name.as_bytes()), configuration: &configuration };
            let expected = directly(&expression, &subject, b"B/s");
            let kept = match (Filter { expression }).apply(&subject) {
                Selected::Keep => true,
                Selected::Drop => false,
                Selected::ByUnit(rest) => rest.matches(b"B/s", b"B/s"),
            };
            prop_assert_eq!(kept, expected);
        }
    }
}
