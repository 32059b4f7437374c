//! The boundary between two iterations: ask the model once more, or end the run, and then let the
//! next prompt in.

use std::sync::Arc;

use super::draft::Draft;
use crate::record::{OutputBound, Record, Transition};
use crate::run::Fatality;
use crate::stop::StopCause;

/// Asks the model, unless something stops the run here.
pub(super) fn ask(draft: &mut Draft<'_>, transition: Transition) {
    ask_after(draft, transition, Fatality::GoesOn);
}

/// The same after a round that may have been fatal.
pub(super) fn ask_after(draft: &mut Draft<'_>, transition: Transition, fatal: Fatality) {
    let causes = causes(draft, fatal);
    let halted = draft.run().is_some_and(|run| run.halt().is_some());
    match (causes.is_empty(), halted) {
        (false, _) => finish_badly(draft, &causes),
        (true, true) => {}
        (true, false) => ask_unchecked(draft, transition, None),
    }
}

/// Whether the model could be asked once more.
pub(super) fn can_ask(draft: &Draft<'_>) -> bool {
    let cap = draft.run().map_or(0, |run| run.cap_tokens);
    causes(draft, Fatality::GoesOn).is_empty() && affordable(draft, cap).is_some()
}

/// Asks again with a larger cap.
pub(super) fn ask_with_cap(draft: &mut Draft<'_>, transition: Transition, cap_tokens: u64) {
    let causes = causes(draft, Fatality::GoesOn);
    if causes.is_empty() {
        ask_unchecked(draft, transition, Some(cap_tokens));
    } else {
        finish_badly(draft, &causes);
    }
}

fn ask_unchecked(draft: &mut Draft<'_>, transition: Transition, cap_tokens: Option<u64>) {
    let Some(run) = draft.run() else { return };
    let Some((max_tokens, bound)) = affordable(draft, cap_tokens.unwrap_or(run.cap_tokens)) else {
        return finish_badly(draft, &[StopCause::BudgetTokens]);
    };
    let ask = draft.now().asks.saturating_add(1);
    let reserved_tokens = input_estimate(draft).saturating_add(max_tokens);
    draft.record(Record::Asked { ask, max_tokens, bound, reserved_tokens, transition });
}

/// Output tokens of a call with this cap, and what bounds them; `None` if too few are left.
fn affordable(draft: &Draft<'_>, cap_tokens: u64) -> Option<(u64, OutputBound)> {
    let settings = draft.settings()?;
    let cap = cap_tokens.clamp(1, settings.model.most_output_tokens.max(1));
    let input_tokens = input_estimate(draft);
    let (max_tokens, bound) = match remaining_tokens(draft) {
        Some(remaining) if remaining.saturating_sub(input_tokens) < cap => {
            (remaining.saturating_sub(input_tokens), OutputBound::Budget)
        }
        Some(_) | None => (cap, OutputBound::Cap),
    };
    let enough = max_tokens >= cap.min(settings.limits.least_output_tokens);
    enough.then_some((max_tokens, bound))
}

/// What stops the run before its next model call, the most telling first.
fn causes(draft: &Draft<'_>, fatal: Fatality) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let limits = draft.limits();
    let mut causes = Vec::new();
    if fatal == Fatality::Fatal {
        causes.push(StopCause::ToolFatal);
    }
    if run.stop.is_some() {
        causes.push(StopCause::UserCancel);
    }
    if is_overspent(draft) {
        causes.push(StopCause::BudgetTokens);
    }
    if run.counters.model_calls >= limits.model_calls {
        causes.push(StopCause::MaxModelCalls);
    }
    causes
}

/// What stops a run whose reply asks for tools.
pub(super) fn causes_before_tools(draft: &Draft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = Vec::new();
    if run.stop.is_some() {
        causes.push(StopCause::UserCancel);
    }
    if is_overspent(draft) {
        causes.push(StopCause::BudgetTokens);
    }
    if run.counters.tool_rounds >= draft.limits().tool_rounds {
        causes.push(StopCause::MaxToolRounds);
    }
    causes
}

fn is_overspent(draft: &Draft<'_>) -> bool {
    let used = draft.run().map_or(0, |run| run.counters.usage.total());
    draft.limits().run_tokens.is_some_and(|cap| used > cap)
}

fn remaining_tokens(draft: &Draft<'_>) -> Option<u64> {
    let used = draft.run().map_or(0, |run| run.counters.usage.total());
    draft.limits().run_tokens.map(|cap| cap.saturating_sub(used))
}

/// Tokens of the next request, by its bytes.
fn input_estimate(draft: &Draft<'_>) -> u64 {
    let prompt = draft.settings().map_or(0, |settings| settings.prompt_bytes());
    draft.now().transcript.bytes().saturating_add(prompt) / 4
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
        draft.record(Record::RunStarted { run });
        ask(draft, Transition::Prompt);
    }
}
