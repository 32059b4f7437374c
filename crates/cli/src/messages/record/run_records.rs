//! Messages about the run: guards, limits, cancellation, owners.

use windlass::core::guard::loop_detection::{EscalationLevel, LoopDetectorTier};
use windlass::core::log::command_rejection::CommandRejection;
use windlass::core::log::record::{LoopFinding, RejectionSource, StopMode, TimeLimit};
use windlass::core::run::wanted::{is_parked, is_waiting_for_children};

use super::{MAX_QUOTE_CHARS, MessageContext, RecordTexts, SectionTopic};
use crate::messages::{command_rejection, stop_requested, stored_name, suspect_answer};
use crate::terminal::number_format::count_noun;
use crate::terminal::to_one_line;

/// A command that the run did not accept. Its sender is told in the result.
pub(super) fn command_rejected(say: RecordTexts, reason: &CommandRejection) -> RecordTexts {
    let why = || command_rejection(reason);
    say.timeline(|| format!("command rejected: {}", why()))
        .explain(SectionTopic::Guards, || format!("A command was rejected: {}.", why()))
}

/// A person asked the run to stop.
pub(super) fn cancel_requested(say: RecordTexts, mode: StopMode) -> RecordTexts {
    say.timeline(|| match mode {
        StopMode::Cancel => "cancellation requested",
        StopMode::Abort => "abort requested",
    })
    .explain(SectionTopic::Guards, || stop_requested(mode))
}

/// The check that rejected an answer.
fn rejection_source(by: RejectionSource) -> &'static str {
    match by {
        RejectionSource::Checklist => "the checklist",
        RejectionSource::Hook => "a Stop hook",
        RejectionSource::Judge => "the judge model",
        RejectionSource::Schema => "the schema",
        RejectionSource::Drift => "the drift check",
    }
}

/// An answer was rejected.
pub(super) fn answer_rejected(
    say: RecordTexts,
    context: &MessageContext<'_>,
    by: RejectionSource,
    reason: &str,
) -> RecordTexts {
    let line = || format!("the answer was rejected by {}: {reason}", rejection_source(by));
    // That a drifted reply was discarded is reported already.
    say.live(|| (by != RejectionSource::Drift).then(|| format!("  ! {}", line())))
        .timeline(line)
        .explain(SectionTopic::Guards, || rejection_sentence(context, by, reason))
}

/// A rejection against its limit.
fn rejection_sentence(
    context: &MessageContext<'_>,
    by: RejectionSource,
    reason: &str,
) -> Option<String> {
    let after = context.after()?;
    let limits = after.settings.as_ref().map(|settings| settings.limits.clone());
    let limits = limits.unwrap_or_default();
    let used = after.run.as_ref().map(|run| run.counters.clone()).unwrap_or_default();
    let (by, used, limit) = match by {
        RejectionSource::Checklist => ("The completion gate", used.rejections, limits.rejections),
        RejectionSource::Hook => ("A Stop hook", used.rejections, limits.rejections),
        RejectionSource::Judge => ("The judge", used.rejections, limits.rejections),
        RejectionSource::Schema => ("The schema", used.output_retries, limits.output_retries),
        RejectionSource::Drift => ("The drift guard", used.reprompts, limits.reprompts),
    };
    let reason = to_one_line(reason, MAX_QUOTE_CHARS);
    Some(match used > limit {
        true => {
            let times = count_noun(u64::from(used), "time");
            format!("{by} rejected the answer {times}, so a person was asked: {reason}")
        }
        false => format!("{by} rejected the answer ({used} of {limit}): {reason}"),
    })
}

/// An answer was accepted although a check objected.
pub(super) fn answer_marked_suspect(say: RecordTexts, reason: &str) -> RecordTexts {
    let line = || format!("the answer was accepted but is suspect: {reason}");
    say.live(|| format!("  ! {}", line()))
        .timeline(line)
        .explain(SectionTopic::Guards, || suspect_answer(reason))
}

/// The loop detector changed its level.
pub(super) fn loop_detection_updated(
    say: RecordTexts,
    level: EscalationLevel,
    finding: Option<&LoopFinding>,
) -> RecordTexts {
    let Some(LoopFinding { tier, tool }) = finding else { return say };
    let action = match level {
        EscalationLevel::Calm => "no action, because there is progress",
        EscalationLevel::Nudge => "the model received a hint",
        EscalationLevel::Directive => "the model received a directive",
        EscalationLevel::Human => "a person was asked",
    };
    let what = match tier {
        LoopDetectorTier::Identical => "repeats the same call",
        LoopDetectorTier::Pattern => "is called repeatedly",
    };
    let is_escalated = level != EscalationLevel::Calm;
    say.live(|| is_escalated.then(|| format!("  ! loop detected: {tool} {what}")))
        .timeline(|| {
            format!("loop detected: {tool} {what}; escalation level `{}`", stored_name(&level))
        })
        .explain(SectionTopic::Guards, || format!("Loop detected: {tool} {what}; {action}."))
}

/// A time limit of the run was reached.
pub(super) fn time_limit_reached(say: RecordTexts, limit: TimeLimit) -> RecordTexts {
    let say = say.live(|| "  ! the time limit of the run was reached");
    match limit {
        TimeLimit::Soft => say.timeline(|| "soft time limit reached; wrapping up").explain(
            SectionTopic::Guards,
            || "The soft time limit was reached; the model was asked to wrap up.",
        ),
        TimeLimit::Hard => say
            .timeline(|| "hard time limit reached")
            .explain(SectionTopic::Guards, || "The hard time limit was reached."),
    }
}

/// No process was running when a time limit came.
pub(super) fn sleep_detected(say: RecordTexts) -> RecordTexts {
    say.timeline(|| "no process was running; that time does not count").explain(
        SectionTopic::Guards,
        || "No process was running when a time limit was reached; that time does not count.",
    )
}

/// A share of a budget is spent.
pub(super) fn budget_warned(say: RecordTexts, percent: u64) -> RecordTexts {
    say.live(|| format!("  ! {percent} % of the budget is spent"))
        .timeline(|| format!("{percent} % of a budget is spent"))
        .explain(SectionTopic::Guards, || format!("{percent} % of a budget was spent."))
}

/// A person extended the budget.
pub(super) fn budget_extended(say: RecordTexts) -> RecordTexts {
    say.timeline(|| "a person doubled the budget")
        .explain(SectionTopic::Guards, || "A person doubled the budget.")
}

/// A process drives the run that another one drove, or that waited: a run that waits has no process,
/// and goes on with whichever process the answer reaches first.
pub(super) fn owner_changed(say: RecordTexts, context: &MessageContext<'_>) -> RecordTexts {
    let say = say.live(|| "  resumed");
    if context.before().is_some_and(|before| is_parked(before) || is_waiting_for_children(before)) {
        return say.timeline(|| "continued after the wait");
    }
    say.timeline(|| "resumed by another process")
        .explain(SectionTopic::Recoveries, || "Another process resumed it.")
}
