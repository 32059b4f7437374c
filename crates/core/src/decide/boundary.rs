//! The boundary between two iterations: ask the model once more, or end the run, and then let the
//! next prompt in.

use std::sync::Arc;

use super::budget;
use super::clock;
use super::counsel;
use super::draft::Draft;
use super::room;
use crate::counsel::Counsel;
use crate::record::{Record, TimeLimit, ToolChoice, Transition};
use crate::run::Fatality;
use crate::settings::{Forcing, Listening};
use crate::stop::StopCause;
use crate::words;

/// Asks the model, unless something stops the run here.
pub(super) fn ask(draft: &mut Draft<'_>, transition: Transition) {
    ask_after(draft, transition, Fatality::GoesOn);
}

/// The same after a round that may have been fatal.
pub(super) fn ask_after(draft: &mut Draft<'_>, transition: Transition, fatal: Fatality) {
    if stops(draft, fatal) {
        return;
    }
    if is_summing_up(draft) {
        return sum_up(draft, transition);
    }
    room::before_asking(draft, transition);
}

/// Asks, with a tool that must be called.
pub(super) fn ask_for(draft: &mut Draft<'_>, transition: Transition, tool: Option<Arc<str>>) {
    match tool.filter(|tool| is_offered(draft, tool)) {
        Some(tool) if !is_summing_up(draft) => {
            if !stops(draft, Fatality::GoesOn) {
                ask_now(draft, transition, None, ToolChoice::Only(tool));
            }
        }
        Some(_) | None => ask(draft, transition),
    }
}

/// Ends the run if something stops it here, or leaves it halted.
fn stops(draft: &mut Draft<'_>, fatal: Fatality) -> bool {
    clock::look(draft);
    let causes = causes(draft, fatal);
    if causes.is_empty() {
        return draft.run().is_none_or(|run| run.halt().is_some());
    }
    finish_badly(draft, &causes);
    true
}

fn is_offered(draft: &Draft<'_>, tool: &str) -> bool {
    let settings = draft.now().settings_in_use();
    settings.is_some_and(|settings| {
        settings.model.forcing == Forcing::Possible
            && settings.tools.iter().any(|offered| &*offered.name == tool)
    })
}

/// Whether the model could be asked once more.
pub(super) fn can_ask(draft: &Draft<'_>) -> bool {
    let cap = draft.run().map_or(0, |run| run.cap_tokens);
    causes(draft, Fatality::GoesOn).is_empty() && budget::affordable(draft, cap).is_ok()
}

/// Asks again with a larger cap.
pub(super) fn ask_with_cap(draft: &mut Draft<'_>, transition: Transition, cap_tokens: u64) {
    if stops(draft, Fatality::GoesOn) {
        return;
    }
    if is_summing_up(draft) {
        return sum_up(draft, transition);
    }
    ask_now(draft, transition, Some(cap_tokens), ToolChoice::Open);
}

/// Asks: nothing stops it, and there is room.
pub(super) fn ask_now(
    draft: &mut Draft<'_>,
    transition: Transition,
    cap_tokens: Option<u64>,
    choice: ToolChoice,
) {
    let Some(run) = draft.run() else { return };
    match budget::affordable(draft, cap_tokens.unwrap_or(run.cap_tokens)) {
        Err(cap) => budget::reached(draft, cap),
        Ok((max_tokens, bound)) => {
            budget::warn(draft);
            let ask = draft.now().asks.saturating_add(1);
            let reserved_tokens = budget::input_estimate(draft).saturating_add(max_tokens);
            draft.record(Record::Asked {
                ask,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            });
        }
    }
}

/// What stops the run before its next model call, the most telling first.
fn causes(draft: &Draft<'_>, fatal: Fatality) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = Vec::new();
    if fatal == Fatality::Fatal {
        causes.push(StopCause::ToolFatal);
    }
    causes.extend(causes_at_any_time(draft));
    if run.counters.model_calls >= draft.limits().model_calls {
        causes.push(StopCause::MaxModelCalls);
    }
    causes
}

/// What stops a run whose reply asks for tools.
pub(super) fn causes_before_tools(draft: &Draft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = causes_at_any_time(draft);
    if run.counters.tool_rounds >= draft.limits().tool_rounds {
        causes.push(StopCause::MaxToolRounds);
    }
    causes
}

/// Cancelled, overspent, out of time.
fn causes_at_any_time(draft: &Draft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let hard = run.time_up.is_some_and(|up| up.limit == TimeLimit::Hard);
    let cancelled = run.stop.map(|_| StopCause::UserCancel);
    let late = hard.then_some(StopCause::HardTime);
    cancelled.into_iter().chain(budget::overspent(draft)).chain(late).collect()
}

/// Whether the soft time limit has come: the model is asked once more, to sum up.
pub(super) fn is_summing_up(draft: &Draft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.time_up);
    up.is_some_and(|up| up.limit == TimeLimit::Soft)
}

fn sum_up(draft: &mut Draft<'_>, transition: Transition) {
    if transition != Transition::SumUp {
        draft.record(Record::Noted { text: Arc::from(words::SUM_UP) });
    }
    ask_now(draft, Transition::SumUp, None, ToolChoice::Nothing);
}

/// Ends the run without a result.
pub(super) fn finish_badly(draft: &mut Draft<'_>, causes: &[StopCause]) {
    let causes = with_cancel(draft, causes);
    finish(draft, &causes, Some(Arc::from("")));
}

/// A person who asked for the end hears so, whatever else ended the run; only a fatal error is more
/// telling.
fn with_cancel(draft: &Draft<'_>, causes: &[StopCause]) -> Vec<StopCause> {
    let mut causes = causes.to_vec();
    if draft.is_stopping() && !causes.contains(&StopCause::UserCancel) {
        let place = usize::from(causes.first() == Some(&StopCause::ToolFatal));
        causes.insert(place, StopCause::UserCancel);
    }
    causes
}

/// Ends the run: the first cause names it, the others are recorded beside it. `said` replaces the
/// text that was kept. Then the next prompt begins.
pub(super) fn finish(draft: &mut Draft<'_>, causes: &[StopCause], said: Option<Arc<str>>) {
    let (Some(run), Some((cause, also))) = (draft.run(), causes.split_first()) else { return };
    let run = run.id.clone();
    draft.record(Record::Finished { run, cause: *cause, also: also.to_vec(), said });
    promote(draft);
}

/// Lets the first waiting prompt in, if no run is active.
pub(super) fn promote(draft: &mut Draft<'_>) {
    if draft.run().is_some() {
        return;
    }
    if let Some(next) = draft.now().queue.front() {
        let run = next.run.clone();
        if draft.now().journal.version() != draft.now().journal_shown {
            draft.record(Record::JournalShown {});
        }
        draft.record(Record::RunStarted { run });
        begin(draft);
    }
}

/// A run that has asked nothing yet: hooks see its prompt first.
pub(super) fn begin(draft: &mut Draft<'_>) {
    if budget::refuses_to_begin(draft) {
        return;
    }
    let hooked = draft.settings().map(|settings| settings.hooks.prompt) == Some(Listening::Hooked);
    if hooked {
        counsel::seek(draft, Counsel::Prompt {});
    } else {
        ask(draft, Transition::Prompt);
    }
}
