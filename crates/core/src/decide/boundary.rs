//! The boundary between two iterations: ask the model once more, or end the run, and then let the
//! next prompt in.

use std::sync::Arc;

use super::budget;
use super::clock;
use super::counsel;
use super::draft::Draft;
use super::person;
use super::room;
use crate::counsel::Counsel;
use crate::record::{Record, TimeLimit, ToolChoice, Transition};
use crate::run::Fatality;
use crate::settings::Listening;
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
    let transition = on_time(draft, transition);
    room::before_asking(draft, transition);
}

/// Asks, with a tool that must be called. Where room must be made first, that comes first.
pub(super) fn ask_for(draft: &mut Draft<'_>, transition: Transition, tool: Option<Arc<str>>) {
    let now = tool
        .filter(|tool| is_offered(draft, tool) && !is_summing_up(draft) && room::is_there(draft));
    match now {
        Some(tool) if !stops(draft, Fatality::GoesOn) => {
            ask_now(draft, transition, None, ToolChoice::Only(tool));
        }
        Some(_) => {}
        None => ask(draft, transition),
    }
}

/// Ends the run if something stops it here, or leaves it halted.
pub(super) fn stops(draft: &mut Draft<'_>, fatal: Fatality) -> bool {
    clock::look(draft);
    match causes(draft, fatal).as_slice() {
        [] => return is_halted(draft) || asks_what_is_due(draft),
        [cap @ (StopCause::BudgetUsd | StopCause::BudgetTokens)] => budget::reached(draft, *cap),
        causes => finish_badly(draft, causes),
    }
    true
}

fn is_halted(draft: &Draft<'_>) -> bool {
    draft.run().is_none_or(|run| run.halt().is_some())
}

/// A model that was made to ask a person and did not is not asked again: the runtime asks.
fn asks_what_is_due(draft: &mut Draft<'_>) -> bool {
    let due = person::due(draft);
    if let Some(question) = &due {
        person::ask(draft, question);
    }
    due.is_some()
}

/// Whether there is such a tool. A model that cannot be made to call it is offered nothing else.
pub(super) fn is_offered(draft: &Draft<'_>, tool: &str) -> bool {
    let settings = draft.settings();
    settings.is_some_and(|settings| settings.tools.iter().any(|offered| &*offered.name == tool))
}

/// Whether the model could be asked once more.
pub(super) fn can_ask(draft: &Draft<'_>) -> bool {
    let cap = draft.run().map_or(0, |run| run.cap_tokens);
    causes(draft, Fatality::GoesOn).is_empty() && budget::affordable(draft, cap).is_ok()
}

/// Asks again with a larger cap. A last turn is not an attempt at the one before.
pub(super) fn ask_with_cap(draft: &mut Draft<'_>, transition: Transition, cap_tokens: u64) {
    if stops(draft, Fatality::GoesOn) {
        return;
    }
    if is_summing_up(draft) {
        return ask(draft, transition);
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
    // A provider that is down does not use a run up.
    let calls = run.counters.model_calls.saturating_sub(run.counters.retries);
    if calls >= draft.limits().model_calls {
        causes.push(StopCause::MaxModelCalls);
    }
    causes
}

/// What stops a run whose reply asks for tools. A budget that a human may raise does not: tools
/// cost none of it, and the human is asked after them.
pub(super) fn causes_to_run_no_tools(draft: &Draft<'_>) -> Vec<StopCause> {
    let mut causes = causes_before_tools(draft);
    if budget::can_be_raised(draft) {
        causes.retain(|cause| !matches!(cause, StopCause::BudgetUsd | StopCause::BudgetTokens));
    }
    causes
}

/// What speaks against running tools.
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

/// Why the model is asked: after the soft time, to sum up. It is told once that this is the last turn.
pub(super) fn on_time(draft: &mut Draft<'_>, transition: Transition) -> Transition {
    if !is_summing_up(draft) {
        return transition;
    }
    if !draft.now().transcript.ends_in_note(words::SUM_UP) {
        draft.record(Record::Noted { text: Arc::from(words::SUM_UP) });
    }
    Transition::SumUp
}

/// Ends the run without a result.
pub(super) fn finish_badly(draft: &mut Draft<'_>, causes: &[StopCause]) {
    let causes = with_cancel(draft, causes);
    finish(draft, &causes, Some(Arc::from("")));
}

/// A person who asked for the end hears so, whatever else ended the run. A fatal error, which is
/// more telling, comes with its cancel already.
fn with_cancel(draft: &Draft<'_>, causes: &[StopCause]) -> Vec<StopCause> {
    let known = causes.contains(&StopCause::UserCancel);
    let cancelled = (draft.is_stopping() && !known).then_some(StopCause::UserCancel);
    cancelled.into_iter().chain(causes.iter().copied()).collect()
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
