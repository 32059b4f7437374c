//! The exit codes of every command. `docs/output.md` lists them for people.

use std::process::ExitCode;

use windlass::End;
use windlass::core::stop::RunState;

use crate::sdk;

/// The command line, the prompt or a settings file was not understood.
const NOT_UNDERSTOOD: u8 = 2;

/// A run waits for a person.
const WAITS_FOR_A_PERSON: u8 = 3;

/// Exit codes of processes that a signal ended, as shells know them.
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;
const HUNG_UP: u8 = 129;

/// How a command ended, as its exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// There is a result.
    Result,
    /// There is none.
    NoResult,
    NotUnderstood,
    WaitsForAPerson,
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// The terminal is gone.
    HungUp,
}

impl Exit {
    /// Of a run that ended or waits.
    pub(crate) fn of(end: &End) -> Self {
        match end {
            End::Finished(ended) if sdk::is_host() => match sdk::Label::of(ended).is_error {
                true => Self::NoResult,
                false => Self::Result,
            },
            End::Finished(ended) if ended.cause.state(ended.has_text()) == RunState::Completed => {
                Self::Result
            }
            End::Parked(_) => Self::WaitsForAPerson,
            End::Finished(_) | End::Refused(_) | End::HandedOver => Self::NoResult,
        }
    }

    /// Whether there is a result.
    pub(crate) fn is_result(self) -> bool {
        self == Self::Result
    }

    /// The code. An SDK that started this process knows two codes: whether the result is an error;
    /// an interrupt is the end that it asked for.
    pub(crate) fn code(self) -> ExitCode {
        let number = match (self, sdk::is_host()) {
            (Self::Result, _) | (Self::Interrupted, true) => 0,
            (Self::NoResult, _) | (Self::NotUnderstood | Self::WaitsForAPerson, true) => 1,
            (Self::NotUnderstood, false) => NOT_UNDERSTOOD,
            (Self::WaitsForAPerson, false) => WAITS_FOR_A_PERSON,
            (Self::Interrupted, false) => INTERRUPTED,
            (Self::Terminated, _) => TERMINATED,
            (Self::HungUp, _) => HUNG_UP,
        };
        ExitCode::from(number)
    }
}

/// Something that was given and cannot be understood, in one sentence: on the command line, in the
/// environment, or in a settings file. Nothing was begun.
#[derive(Debug)]
pub(crate) struct UsageError(anyhow::Error);

impl UsageError {
    /// Marks an error as one of what was given.
    pub(crate) fn of(error: anyhow::Error) -> anyhow::Error {
        match error.is::<Self>() {
            true => error,
            false => anyhow::Error::new(Self(error)),
        }
    }
}

/// Marks the error of a result as one of what was given.
pub(crate) trait OrUsageError<T> {
    /// The same result, with an error that ends in exit code 2.
    fn or_usage_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrUsageError<T> for Result<T, E> {
    fn or_usage_error(self) -> anyhow::Result<T> {
        self.map_err(|error| UsageError::of(error.into()))
    }
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chain: Vec<String> = self.0.chain().map(ToString::to_string).collect();
        f.write_str(&chain.join(": "))
    }
}

impl std::error::Error for UsageError {}

/// The exit code of a command that failed.
pub(crate) fn of_error(error: &anyhow::Error) -> ExitCode {
    let exit = match error.is::<UsageError>() {
        true => Exit::NotUnderstood,
        false => Exit::NoResult,
    };
    exit.code()
}
