//! What an error says to the model, and what only to people who look into it: a message is a
//! sentence; causes and stack traces are details.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::sync::Arc;

use crate::cut;
use crate::outcome::ToolError;
use crate::transient::is_transient;

/// Causes that are told; a chain that bites its tail has an end here.
const MOST_CAUSES: usize = 32;

/// Characters of a story that are kept: a deep stack has them, a flood has more.
const STORY_CHARS: u64 = 32_000;

/// How a stack trace begins.
const TRACES: [&str; 4] =
    ["stack backtrace:", "Stack backtrace:", "Traceback (most recent call last):", "Caused by:"];

/// How a line of one begins that has no heading.
const FRAMES: [&str; 2] = ["at ", "0: "];

impl ToolError {
    /// The failure that `error` stands for, with everything that caused it as a detail. It is transient
    /// if a time-out or a lost or refused connection is among the causes.
    #[must_use]
    pub fn caused_by(code: &str, error: &(dyn Error + 'static), hint: &str) -> Self {
        let may_pass = |error: &(dyn Error + 'static)| {
            error.downcast_ref::<io::Error>().is_some_and(|error| is_transient(error.kind()))
        };
        let mut transient = may_pass(error);
        let mut story = error.to_string();
        let mut cause = error.source();
        for _ in 0..MOST_CAUSES {
            let Some(error) = cause else { break };
            transient |= may_pass(error);
            // Writing to a string does not fail.
            let _ = write!(story, ": {error}");
            cause = error.source();
        }
        let failure = Self::new(code, &error.to_string(), hint).without_trace();
        Self { transient, ..failure.detailed(&story) }
    }

    /// The same with a story for whoever looks into it.
    #[must_use]
    pub fn detailed(mut self, story: &str) -> Self {
        if *story != *self.message {
            self.detail = Some(Arc::from(&*cut::text(story, STORY_CHARS)));
        }
        self
    }

    /// The same with the stack trace of its message, if it has one, as a detail.
    #[must_use]
    pub fn without_trace(mut self) -> Self {
        let message = Arc::clone(&self.message);
        let Some(at) = trace_in(&message) else { return self };
        let (said, trace) = message.split_at_checked(at).unwrap_or((&message, ""));
        // Some languages say what happened after the trace.
        let said = if said.trim().is_empty() { last_line(trace) } else { said };
        self.message = Arc::from(said.trim_end());
        self.detailed(&message)
    }
}

/// Where the first line of a trace begins.
fn trace_in(message: &str) -> Option<usize> {
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let begins = |marks: &[&str]| marks.iter().any(|mark| line.trim_start().starts_with(mark));
        if begins(&TRACES) || (line.starts_with("  ") && begins(&FRAMES)) {
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
#[path = "blame_tests.rs"]
mod tests;
