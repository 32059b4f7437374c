//! The start of an answer: a wait, and then an answer or a rejection.

use windlass_runtime::ports::Clock;

use crate::scripted_answer::{AnswerStep, ScriptedFault};

/// What follows the wait.
pub(super) enum AnswerStart<'a> {
    Fault(&'a ScriptedFault),
    /// The steps that are left, at this pace.
    Answer(&'a [AnswerStep], StreamPace),
}

/// Milliseconds between two pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StreamPace(pub(super) u64);

/// Waits as long as the script says before its first block.
pub(super) async fn wait_for_start<'a>(
    steps: &'a [AnswerStep],
    clock: &dyn Clock,
) -> AnswerStart<'a> {
    let (mut left, mut pace) = (steps, StreamPace::default());
    while let Some((step, rest)) = left.split_first() {
        match step {
            AnswerStep::Delay(ms) => clock.sleep(*ms).await,
            AnswerStep::Pace(ms) => pace = StreamPace(*ms),
            AnswerStep::Fail(fault) => return AnswerStart::Fault(fault),
            _ => break,
        }
        left = rest;
    }
    AnswerStart::Answer(left, pace)
}
