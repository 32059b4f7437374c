//! Values of options, as they are typed.

use clap::ValueEnum;

/// A UUID as it is typed.
pub(super) fn uuid(typed: &str) -> Result<String, String> {
    match uuid::Uuid::parse_str(typed) {
        Ok(_) => Ok(typed.to_owned()),
        Err(_) => Err("not a UUID; to choose a name of your own use --conversation".to_owned()),
    }
}

/// A sum of money as it is typed.
pub(super) fn dollars(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 && usd <= 1e9 => Ok(usd),
        Ok(_) | Err(_) => Err("give a number of dollars above 0, such as 0.50".to_owned()),
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line for each event.
    Text,
    /// One JSON object a line.
    Json,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The text, live.
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object for everything that happens.
    StreamJson,
}

/// Who decides what would have to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenAsked {
    /// A person at the terminal.
    Prompt,
    /// Whoever answers later.
    Park,
    /// Nobody: it is denied.
    Deny,
}

/// How long a provider keeps the prompt in its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheWord {
    /// Not marked for caching.
    Off,
    /// Five minutes.
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour, at a higher price.
    #[value(name = "1h")]
    OneHour,
}

/// How hard a model should try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortWord {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// All it can.
    Max,
}

/// What becomes of runs that a dead process left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResumePolicy {
    /// A worker goes on with them at once.
    Automatic,
    /// They wait for `windlass resume`.
    Manual,
}

/// An answer as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Yes, run it.
    Allow,
    /// No.
    Deny,
    /// It did not happen: run it again.
    Retry,
    /// It happened.
    MarkDone,
    /// Leave it as it is.
    Abandon,
    /// Go on although something changed.
    Continue,
    /// The words are the answer.
    Text,
}
