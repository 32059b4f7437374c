//! Error chains: the model sees one sentence; causes and stack traces are details for events.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::sync::Arc;

use crate::call::outcome::ToolError;
use crate::call::retry_classification::is_transient;
use crate::message::truncate;

/// Number of causes that are listed; ends a chain of causes that refers to itself.
const MAX_CAUSES: usize = 32;

/// Characters of detail that are kept: enough for a deep stack trace, a bound for anything longer.
const MAX_DETAIL_CHARS: u64 = 32_000;

/// First words of a stack trace.
const TRACE_HEADINGS: [&str; 4] =
    ["stack backtrace:", "Stack backtrace:", "Traceback (most recent call last):", "Caused by:"];

/// First words of a stack frame in a trace without a heading.
const FRAME_PREFIXES: [&str; 2] = ["at ", "0: "];

impl ToolError {
    /// Returns the failure for `error`, with all its causes as a detail. It is transient if a
    /// time-out or a lost or refused connection is among the causes.
    #[must_use]
    pub fn from_error(code: &str, error: &(dyn Error + 'static), hint: &str) -> Self {
        let may_pass = |error: &(dyn Error + 'static)| {
            error.downcast_ref::<io::Error>().is_some_and(|error| is_transient(error.kind()))
        };
        let mut transient = may_pass(error);
        let mut story = error.to_string();
        let mut cause = error.source();
        for _ in 0..MAX_CAUSES {
            let Some(error) = cause else { break };
            transient |= may_pass(error);
            // Writing to a string does not fail.
            let _ = write!(story, ": {error}");
            cause = error.source();
        }
        let failure = Self::new(code, &error.to_string(), hint).without_trace();
        Self { transient, ..failure.with_detail(&story) }
    }

    /// Returns the failure with detail for operators.
    #[must_use]
    pub fn with_detail(mut self, story: &str) -> Self {
        if *story != *self.message {
            self.detail = Some(Arc::from(&*truncate::truncate_text(story, MAX_DETAIL_CHARS)));
        }
        self
    }

    /// Returns the failure with the stack trace of its message, if it has one, moved to the detail.
    #[must_use]
    pub fn without_trace(mut self) -> Self {
        let message = Arc::clone(&self.message);
        let Some(at) = find_trace(&message) else { return self };
        let (text, trace) = message.split_at_checked(at).unwrap_or((&message, ""));
        // Some languages print the error message after the trace.
        let text = if text.trim().is_empty() { last_line(trace) } else { text };
        self.message = Arc::from(text.trim_end());
        self.with_detail(&message)
    }
}

/// Returns where the first line of a stack trace starts.
fn find_trace(message: &str) -> Option<usize> {
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let begins = |marks: &[&str]| marks.iter().any(|mark| line.trim_start().starts_with(mark));
        if begins(&TRACE_HEADINGS) || (line.starts_with("  ") && begins(&FRAME_PREFIXES)) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn last_line(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
#[path = "error_chain_tests.rs"]
mod tests;
