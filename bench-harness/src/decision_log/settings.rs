//! The settings of decision logs, under OPA's names and with OPA's defaults.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::duration::LONGEST;

/// Where events wait for their upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferType {
    /// Encoded and compressed on the request's thread, limited in bytes.
    Size,
    /// As they are, encoded by the uploader, limited in number.
    Event,
}

/// What starts an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A delay between `min_delay` and `max_delay`.
    Periodic,
    /// Nothing but the end of the run.
    Manual,
    /// Each full chunk, and a delay for what is left.
    Immediate,
}

/// How the bytes that go into a chunk are guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkGuess {
    /// By OPA's rule, which doubles and halves for good.
    Opa,
    /// In steps that get smaller.
    Settling,
}

/// When `system.log.drop` and `system.log.mask` are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPolicy {
    /// For each event, whether or not there are such rules, as OPA does.
    Always,
    /// For each event where there are such rules.
    Present,
}

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `buffer_type`: size or event.
    pub buffer_type: BufferType,
    /// `buffer_size_limit_bytes`: compressed bytes waiting, 0 for no limit.
    pub buffer_size_limit_bytes: usize,
    /// `buffer_size_limit_events`: events waiting, 1 or more.
    pub buffer_size_limit_events: usize,
    /// `upload_size_limit_bytes`: compressed bytes of one chunk, 90 or more.
    pub upload_size_limit_bytes: usize,
    /// `max_decisions_per_second`: above 0, or none.
    pub max_decisions_per_second: Option<f64>,
    /// `reporting.min_delay_seconds`.
    pub min_delay: Duration,
    /// `reporting.max_delay_seconds`, also the longest wait after a failure.
    pub max_delay: Duration,
    /// `trigger`: periodic, manual or immediate.
    pub trigger: Trigger,
    /// `chunk_guess`: opa or settling.
    pub chunk_guess: ChunkGuess,
    /// `log_policy`: always or present.
    pub log_policy: LogPolicy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            buffer_type: BufferType::Size,
            buffer_size_limit_bytes: 0,
            buffer_size_limit_events: 10_000,
            upload_size_limit_bytes: 32_768,
            max_decisions_per_second: None,
            min_delay: Duration::from_secs(300),
            max_delay: Duration::from_secs(600),
            trigger: Trigger::Periodic,
            chunk_guess: ChunkGuess::Opa,
            log_policy: LogPolicy::Always,
        }
    }
}

/// The smallest limit of a chunk: an event with a decision ID, compressed. OPA takes less for this.
const SMALLEST_CHUNK: usize = 90;
/// The largest one.
const LARGEST_CHUNK: usize = 1 << 32;

/// The delays with a consumer, when the settings name none: OPA's own would
/// upload nothing before the end of a run, and so measure no uploads.
const CONSUMED: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(200));

impl Settings {
    /// Reads `name=value` pairs, separated by spaces or commas.
    ///
    /// # Errors
    /// With the pair that makes no sense, and what would.
    pub fn parse(text: &str, consumed: bool) -> Result<Self> {
        let mut settings = Self::default();
        if consumed {
            (settings.min_delay, settings.max_delay) = CONSUMED;
        }
        let mut seen = Vec::new();
        for pair in text
            .split([' ', ',', '\t', '\n'])
            .filter(|pair| !pair.is_empty())
        {
            let Some((name, value)) = pair.split_once('=') else {
                bail!("the setting {pair:?} has no value; write name=value");
            };
            let name = name.strip_prefix("reporting.").unwrap_or(name);
            settings
                .set(name, value)
                .with_context(|| format!("the setting {pair:?}"))?;
            seen.push(name);
        }
        let given = |name: &str| seen.contains(&name);
        if given("min_delay_seconds") != given("max_delay_seconds") {
            bail!(
                "reporting.min_delay_seconds and reporting.max_delay_seconds need each other, as in OPA: \
                 write both"
            );
        }
        if settings.min_delay > settings.max_delay {
            bail!("reporting.min_delay_seconds is larger than reporting.max_delay_seconds");
        }
        if settings.max_decisions_per_second.is_some() && given("buffer_size_limit_bytes") {
            bail!(
                "max_decisions_per_second and buffer_size_limit_bytes exclude each other, as in OPA"
            );
        }
        match settings.buffer_type {
            BufferType::Size if given("buffer_size_limit_events") => {
                bail!("buffer_size_limit_events belongs to buffer_type=event");
            }
            BufferType::Event if given("buffer_size_limit_bytes") => {
                bail!("buffer_size_limit_bytes belongs to buffer_type=size");
            }
            _ => Ok(settings),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let number = || {
            value
                .parse::<usize>()
                .with_context(|| format!("{value:?} is no whole number"))
        };
        let seconds = || {
            value
                .parse::<f64>()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .filter(|delay| *delay <= LONGEST)
                .with_context(|| format!("{value:?} is no number of seconds up to a year"))
        };
        match name {
            "buffer_type" => {
                self.buffer_type = match value {
                    "size" => BufferType::Size,
                    "event" => BufferType::Event,
                    _ => bail!("the types are size and event"),
                }
            }
            "trigger" => {
                self.trigger = match value {
                    "periodic" => Trigger::Periodic,
                    "manual" => Trigger::Manual,
                    "immediate" => Trigger::Immediate,
                    _ => bail!("the triggers are periodic, manual and immediate"),
                }
            }
            "buffer_size_limit_bytes" => self.buffer_size_limit_bytes = number()?,
            "buffer_size_limit_events" => match number()? {
                0 => bail!("at least 1"),
                events => self.buffer_size_limit_events = events,
            },
            "upload_size_limit_bytes" => {
                self.upload_size_limit_bytes = number()?.clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
            }
            "chunk_guess" => {
                self.chunk_guess = match value {
                    "opa" => ChunkGuess::Opa,
                    "settling" => ChunkGuess::Settling,
                    _ => bail!("the guesses are opa and settling"),
                }
            }
            "log_policy" => {
                self.log_policy = match value {
                    "always" => LogPolicy::Always,
                    "present" => LogPolicy::Present,
                    _ => bail!("the policies are asked always, or where present"),
                }
            }
            "max_decisions_per_second" => match value.parse::<f64>() {
                Ok(rate) if rate > 0.0 && rate.is_finite() => {
                    self.max_decisions_per_second = Some(rate);
                }
                _ => bail!("{value:?} is no rate above 0"),
            },
            "min_delay_seconds" => self.min_delay = seconds()?,
            "max_delay_seconds" => self.max_delay = seconds()?,
            _ => bail!(
                "unknown; the settings are buffer_type, buffer_size_limit_bytes, \
                 buffer_size_limit_events, upload_size_limit_bytes, max_decisions_per_second, \
                 reporting.min_delay_seconds, reporting.max_delay_seconds, trigger, chunk_guess and log_policy"
            ),
        }
        Ok(())
    }
}

impl fmt::Display for Settings {
    /// As [`Settings::parse`] reads it, with every setting in force.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.buffer_type {
            BufferType::Size => {
                write!(f, "buffer_type=size")?;
                if self.max_decisions_per_second.is_none() {
                    write!(
                        f,
                        " buffer_size_limit_bytes={}",
                        self.buffer_size_limit_bytes
                    )?;
                }
            }
            BufferType::Event => write!(
                f,
                "buffer_type=event buffer_size_limit_events={}",
                self.buffer_size_limit_events
            )?,
        }
        write!(
            f,
            " upload_size_limit_bytes={}",
            self.upload_size_limit_bytes
        )?;
        if let Some(rate) = self.max_decisions_per_second {
            write!(f, " max_decisions_per_second={rate}")?;
        }
        let trigger = match self.trigger {
            Trigger::Periodic => "periodic",
            Trigger::Manual => "manual",
            Trigger::Immediate => "immediate",
        };
        write!(
            f,
            " reporting.min_delay_seconds={} reporting.max_delay_seconds={} trigger={trigger}",
            self.min_delay.as_secs_f64(),
            self.max_delay.as_secs_f64()
        )?;
        let guess = match self.chunk_guess {
            ChunkGuess::Opa => "opa",
            ChunkGuess::Settling => "settling",
        };
        let policy = match self.log_policy {
            LogPolicy::Always => "always",
            LogPolicy::Present => "present",
        };
        write!(f, " chunk_guess={guess} log_policy={policy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_settings_opas_defaults_hold() {
        assert_eq!(
            Settings::parse("", false).unwrap().to_string(),
            "buffer_type=size buffer_size_limit_bytes=0 upload_size_limit_bytes=32768 \
             reporting.min_delay_seconds=300 reporting.max_delay_seconds=600 trigger=periodic \
             chunk_guess=opa log_policy=always"
        );
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in [
            "buffer_type=event,buffer_size_limit_events=5",
            "max_decisions_per_second=12.5 upload_size_limit_bytes=100",
            "trigger=immediate reporting.min_delay_seconds=0.25 max_delay_seconds=0.5",
            "chunk_guess=settling log_policy=present",
        ] {
            let settings = Settings::parse(text, true).unwrap();
            let again = Settings::parse(&settings.to_string(), false).unwrap();
            assert_eq!(settings, again);
        }
    }

    #[test]
    fn a_setting_that_makes_no_sense_says_why() {
        for (text, message) in [
            ("buffer_type", "no value"),
            ("buffer_type=bytes", "the types are size and event"),
            ("bufer_type=size", "unknown; the settings are"),
            ("buffer_size_limit_events=5", "belongs to buffer_type=event"),
            (
                "buffer_type=event buffer_size_limit_bytes=5",
                "belongs to buffer_type=size",
            ),
            (
                "max_decisions_per_second=1 buffer_size_limit_bytes=1",
                "exclude",
            ),
            ("min_delay_seconds=2 max_delay_seconds=1", "larger"),
            ("min_delay_seconds=2", "need each other"),
            ("chunk_guess=none", "opa and settling"),
            ("log_policy=never", "always, or where present"),
            ("max_decisions_per_second=0", "no rate above 0"),
        ] {
            let error = Settings::parse(text, false).unwrap_err();
            assert!(format!("{error:#}").contains(message), "{text}: {error:#}");
        }
    }

    #[test]
    fn with_a_consumer_uploads_happen_during_a_run_unless_said_otherwise() {
        let settings = Settings::parse("", true).unwrap();
        assert_eq!(settings.max_delay, Duration::from_millis(200));
        let both = "reporting.min_delay_seconds=300 reporting.max_delay_seconds=600";
        let settings = Settings::parse(both, true).unwrap();
        assert_eq!(settings.max_delay, Duration::from_secs(600));
    }

    #[test]
    fn a_limit_of_chunks_that_is_too_small_is_the_smallest_as_in_opa() {
        let settings = Settings::parse("upload_size_limit_bytes=12", false).unwrap();
        assert_eq!(settings.upload_size_limit_bytes, 90);
    }
}
