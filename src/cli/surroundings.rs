//! What the program finds around it, apart from its arguments and streams.

use std::path::PathBuf;

/// What the program finds around it; the default is a plain pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether `-color auto` means colour: standard output is a terminal, or a variable says so.
    pub shows_colour: bool,
    /// The same for standard error.
    pub shows_colour_of_messages: bool,
    /// How many characters fit on a line of standard output, where that is a terminal.
    pub width: Option<u16>,
    /// The file that GitHub Actions shows as the summary of a step, to which all steps append.
    pub step_summary: Option<PathBuf>,
}

impl Surroundings {
    /// What this process finds.
    #[must_use]
    pub fn of_process() -> Self {
        let stdout = std::io::stdout();
        Self {
            // Honours NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
            shows_colour: anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
            shows_colour_of_messages: anstream::AutoStream::choice(&std::io::stderr())
                != anstream::ColorChoice::Never,
            width: terminal_size::terminal_size_of(&stdout)
                .map(|(terminal_size::Width(width), _)| width),
            step_summary: std::env::var_os("GITHUB_STEP_SUMMARY")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
        }
    }
}
