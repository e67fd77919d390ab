//! Results to put queries to.

use rbenchstat::query::Subject;
use rbenchstat::record::{Configuration, Name};

const NAMES: &[&[u8]] = &[
    b"",
    b"Copy-8",
    b"Copy/size=4k-8",
    b"Copy/size=16k/gomaxprocs=3",
    b"Copy/size=/pos/=z-",
    b"Move/size=1e3/x=\xff-16",
    "größe/日本=語-1".as_bytes(),
    b"X//x:y/(a)",
];

/// Units as they are written, after the tidied ones.
pub const UNITS: &[(&[u8], &[u8])] = &[
    (b"sec/op", b"ns/op"),
    (b"B/s", b"MB/s"),
    (b"x", b"x"),
    (b"", b"\xff"),
];

/// Calls `use_subject` with every name in a few configurations.
pub fn each(mut use_subject: impl FnMut(&Subject<'_>)) {
    let mut configuration = Configuration::new("old.txt");
    for (key, value) in [
        ("", ""),
        ("goos", "linux"),
        ("pkg", "a b"),
        ("goos", ""),
        ("x", "1_000"),
    ] {
        configuration.set(key.as_bytes(), value.as_bytes());
        for name in NAMES {
            use_subject(&Subject {
                name: Name::new(name),
                configuration: &configuration,
            });
        }
    }
}
