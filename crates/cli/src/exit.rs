//! The exit codes of every command. `docs/output.md` documents them.

use std::process::ExitCode;

use windlass::RunOutcome;
use windlass::core::stop::RunState;
use windlass::messages::{ResultAudience, ResultLabel};

use crate::sdk;

/// Exit code: the command line, the prompt or a settings file is invalid.
const USAGE_ERROR_CODE: u8 = 2;

/// Exit code: a run waits for an answer.
const NEEDS_ANSWER_CODE: u8 = 3;

/// Exit codes of processes that a signal ended, as shells use them.
const INTERRUPTED_CODE: u8 = 130;
const TERMINATED_CODE: u8 = 143;
const HUNG_UP_CODE: u8 = 129;

/// What each exit code means, for the manual page.
pub(crate) const EXIT_STATUS: [(u8, &str); 7] = [
    (0, "There is a result."),
    (
        1,
        "There is no result: the run failed, was cancelled or reached a limit, or an error occurred.",
    ),
    (
        USAGE_ERROR_CODE,
        "Nothing was started: the command line, the prompt, a settings file or a variable is \
         invalid, or no model was chosen.",
    ),
    (
        NEEDS_ANSWER_CODE,
        "The run waits for an answer; see `windlass explain` and `windlass answer`.",
    ),
    (HUNG_UP_CODE, "The terminal went away (SIGHUP); the run can be resumed."),
    (INTERRUPTED_CODE, "Interrupted by Ctrl-C (SIGINT)."),
    (TERMINATED_CODE, "Terminated by SIGTERM; the run can be resumed."),
];

/// How a command ended, as its exit code reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitReason {
    /// The command produced a result.
    Success,
    /// The command failed or produced no result.
    Failure,
    UsageError,
    NeedsAnswer,
    /// Interrupted by Ctrl-C.
    Interrupted,
    /// Ended by SIGTERM.
    Terminated,
    /// Ended by SIGHUP: the terminal is gone.
    HungUp,
}

impl ExitReason {
    /// The exit reason of a run that finished or is parked.
    pub(crate) fn from_outcome(end: &RunOutcome) -> Self {
        match end {
            RunOutcome::Finished(ended) if sdk::is_sdk_host() => {
                match ResultLabel::of_run_end(ended, ResultAudience::AgentSdk).is_error {
                    true => Self::Failure,
                    false => Self::Success,
                }
            }
            RunOutcome::Finished(ended)
                if ended.cause.run_state(ended.text_presence()) == RunState::Completed =>
            {
                Self::Success
            }
            RunOutcome::Parked(_) => Self::NeedsAnswer,
            RunOutcome::Finished(_) | RunOutcome::Rejected(_) | RunOutcome::HandedOver => {
                Self::Failure
            }
        }
    }

    /// Returns whether the command produced a result.
    pub(crate) fn is_success(self) -> bool {
        self == Self::Success
    }

    /// The exit code. An SDK that started this process knows two codes, for a result and for an
    /// error; an interrupt is the end that the SDK requested.
    pub(crate) fn to_exit_code(self) -> ExitCode {
        let number = match (self, sdk::is_sdk_host()) {
            (Self::Success, _) | (Self::Interrupted, true) => 0,
            (Self::Failure, _) | (Self::UsageError | Self::NeedsAnswer, true) => 1,
            (Self::UsageError, false) => USAGE_ERROR_CODE,
            (Self::NeedsAnswer, false) => NEEDS_ANSWER_CODE,
            (Self::Interrupted, false) => INTERRUPTED_CODE,
            (Self::Terminated, _) => TERMINATED_CODE,
            (Self::HungUp, _) => HUNG_UP_CODE,
        };
        ExitCode::from(number)
    }
}

/// An invalid input in one sentence: of the command line, the environment, or a settings file.
/// Nothing was started.
#[derive(Debug)]
pub(crate) struct UsageError(anyhow::Error);

impl UsageError {
    /// Marks an error as a usage error.
    pub(crate) fn wrap(error: anyhow::Error) -> anyhow::Error {
        match error.is::<Self>() {
            true => error,
            false => anyhow::Error::new(Self(error)),
        }
    }
}

/// Marks the error of a result as a usage error.
pub(crate) trait OrUsageError<T> {
    /// Returns the result, with an error that leads to exit code 2.
    fn or_usage_error(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrUsageError<T> for Result<T, E> {
    fn or_usage_error(self) -> anyhow::Result<T> {
        self.map_err(|error| UsageError::wrap(error.into()))
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
pub(crate) fn exit_code_of_error(error: &anyhow::Error) -> ExitCode {
    let exit = match error.is::<UsageError>() {
        true => ExitReason::UsageError,
        false => ExitReason::Failure,
    };
    exit.to_exit_code()
}
