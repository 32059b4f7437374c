//! How an answer opens: with waiting, and then with an answer or a refusal.

use windlass_runtime::ports::Clock;

use super::super::answer::{Fault, Step};

/// What comes after the waiting.
pub(super) enum Opening<'a> {
    Fault(&'a Fault),
    /// The steps that are left, at this pace.
    Answer(&'a [Step], Pace),
}

/// Milliseconds between pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pace(pub(super) u64);

/// Waits as long as the script says before its first block.
pub(super) async fn wait<'a>(steps: &'a [Step], clock: &dyn Clock) -> Opening<'a> {
    let (mut left, mut pace) = (steps, Pace::default());
    while let Some((step, rest)) = left.split_first() {
        match step {
            Step::Delay(ms) => clock.sleep(*ms).await,
            Step::Pace(ms) => pace = Pace(*ms),
            Step::Fail(fault) => return Opening::Fault(fault),
            _ => break,
        }
        left = rest;
    }
    Opening::Answer(left, pace)
}
