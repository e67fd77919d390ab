//! Addresses that are passed on.

/// Takes `user:password@` out of every URL in `text`: result files are passed on.
#[must_use]
pub fn without_passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        clean.push_str(before);
        let end = after
            .find(|letter: char| "/?# '\"".contains(letter))
            .unwrap_or(after.len());
        rest = after[..end].rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    clean + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_of_a_url_are_taken_out() {
        for (text, clean) in [
            (
                "--upload-to=http://me:secret@h:8/a@b",
                "--upload-to=http://h:8/a@b",
            ),
            ("http://h/a http://u:p@g", "http://h/a http://g"),
            ("'http://u:p@q@g/x'", "'http://g/x'"),
            ("no URL @ all", "no URL @ all"),
        ] {
            assert_eq!(without_passwords(text), clean);
        }
    }
}
