//! Keys: the names by which queries call the parts of a result.

use std::fmt;

use bstr::{BStr, BString};

use super::lex::{WordPlace, write_word};
use crate::record::{Configuration, Name};

/// What queries can see of a result: everything but its measurements.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The benchmark's name.
    pub name: Name<'a>,
    /// The configuration in force where the result stands.
    pub configuration: &'a Configuration,
}

/// A key of a filter or projection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// `.name`: the base of the name.
    Name,
    /// `.fullname`: the whole name or, in projections, what no other key reads of it.
    FullName,
    /// `/gomaxprocs`: the final `-N` of the name or, without one, the part `/gomaxprocs=N`.
    Gomaxprocs,
    /// `/key`: the value of the name's first part `/key=value`. Held without the slash.
    Sub(BString),
    /// `.file`: the label of the input.
    File,
    /// `.unit`: the unit of a measurement; filters only.
    Unit,
    /// `.config`: all keys set by configuration lines; projections only.
    Config,
    /// Any other word, `.bogus` too: a key set by configuration lines.
    Configuration(BString),
}

impl Key {
    /// The key that a word names; every word but the empty one is meaningful.
    #[must_use]
    pub fn from_word(word: &[u8]) -> Self {
        match word {
            b".name" => Self::Name,
            b".fullname" => Self::FullName,
            b".file" => Self::File,
            b".unit" => Self::Unit,
            b".config" => Self::Config,
            b"/gomaxprocs" => Self::Gomaxprocs,
            [b'/', key @ ..] => Self::Sub(key.into()),
            _ => Self::Configuration(word.into()),
        }
    }

    /// The word that names this key.
    #[must_use]
    pub fn to_word(&self) -> BString {
        match self {
            Self::Name => ".name".into(),
            Self::FullName => ".fullname".into(),
            Self::Gomaxprocs => "/gomaxprocs".into(),
            Self::Sub(key) => [b"/", key.as_slice()].concat().into(),
            Self::File => ".file".into(),
            Self::Unit => ".unit".into(),
            Self::Config => ".config".into(),
            Self::Configuration(key) => key.clone(),
        }
    }

    /// Whether its value is a part of the benchmark's name.
    pub(super) fn reads_names(&self) -> bool {
        match self {
            Self::Name | Self::FullName | Self::Gomaxprocs | Self::Sub(_) => true,
            Self::File | Self::Unit | Self::Config | Self::Configuration(_) => false,
        }
    }

    /// The value of this key for a result; empty if it has none.
    ///
    /// A result as such has no value of `.unit` and `.config`.
    #[must_use]
    pub fn value<'a>(&self, subject: &Subject<'a>) -> &'a BStr {
        let name = subject.name;
        match self {
            Self::Name => name.base(),
            Self::FullName => name.full(),
            Self::Gomaxprocs => name
                .gomaxprocs()
                .or_else(|| name.sub_value(b"gomaxprocs"))
                .unwrap_or_default(),
            Self::Sub(key) => name.sub_value(key).unwrap_or_default(),
            Self::File => subject.configuration.file(),
            Self::Configuration(key) => subject.configuration.get(key).unwrap_or_default(),
            Self::Unit | Self::Config => BStr::new(b""),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(out, &self.to_word(), WordPlace::Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(key: &str, name: &str) -> String {
        let mut configuration = Configuration::new("new.txt");
        configuration.set(b"goos", b"linux");
        let subject = Subject {
            name: Name::new(name.as_bytes()),
            configuration: &configuration,
        };
        Key::from_word(key.as_bytes()).value(&subject).to_string()
    }

    #[test]
    fn keys_read_the_parts_of_a_result() {
        let name = "Copy/size=4k/size=8k-16";
        for (key, value) in [
            (".name", "Copy"),
            (".fullname", name),
            ("/size", "4k"),
            ("/gomaxprocs", "16"),
            (".file", "new.txt"),
            ("goos", "linux"),
            ("goarch", ""),
            (".bogus", ""),
            (".config", ""),
            (".unit", ""),
        ] {
            assert_eq!(value_of(key, name), value, "{key}");
        }
    }

    #[test]
    fn a_final_number_wins_over_a_gomaxprocs_part() {
        assert_eq!(value_of("/gomaxprocs", "X/gomaxprocs=4-8"), "8");
        assert_eq!(value_of("/gomaxprocs", "X/gomaxprocs=4"), "4");
        assert_eq!(value_of("/gomaxprocs", "X/gomaxprocs="), "");
    }

    #[test]
    fn a_lone_slash_reads_a_part_without_a_key() {
        assert_eq!(value_of("/", "X/=z-3"), "z");
    }

    #[test]
    fn a_key_prints_as_the_word_it_was_read_from() {
        for word in [
            ".name",
            ".fullname",
            ".file",
            ".unit",
            ".config",
            "/gomaxprocs",
            "/",
            "/x",
            "goos",
        ] {
            assert_eq!(Key::from_word(word.as_bytes()).to_string(), word);
        }
        assert_eq!(Key::from_word(b"a b\xff").to_string(), r#""a b\xff""#);
    }
}
