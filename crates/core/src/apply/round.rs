//! The calls of a reply, until the round is in the transcript.

use std::sync::Arc;

use super::children;
use super::model::{charge, reply_of};
use super::{set, with_call, with_round, with_run};
use crate::block::{Block, ErrorFlag};
use crate::call::{Call, CallState, Retries, Span};
use crate::conversation::Conversation;
use crate::facts::Facts;
use crate::ids::{CallId, Millis};
use crate::input::{HookAnswer, Input};
use crate::outcome::{Outcome, OutcomeKind, Shown};
use crate::permission::Verdict;
use crate::record::Settlement;
use crate::run::{Fatality, Phase, Round, Run};
use crate::settings::{Listening, Settings};
use crate::thrash::{Detectors, Seen};

pub(super) fn round_opened(
    c: &mut Conversation,
    input: &Input,
    dropped: &[u16],
    note: Option<&Arc<str>>,
) {
    let Some((reply, facts)) = reply_of(input) else { return };
    let Some(ask) = c.last_reply.as_ref().map(|last| last.ask) else { return };
    let hooked = c.settings.as_ref().map(|settings| settings.hooks.before_tool);
    let facts = facts.iter().map(Some).chain(std::iter::repeat(None));
    let calls: Vec<Call> = reply
        .tool_uses()
        .zip(facts)
        .filter(|((index, _), _)| !dropped.contains(index))
        .map(|((index, tool_use), facts)| {
            let facts = facts.cloned().unwrap_or_else(|| Facts::unknown(&tool_use.name));
            let call = Call::new(CallId { ask, index }, tool_use.clone(), Arc::new(facts));
            if hooked == Some(Listening::Hooked) { call.shown_to_hooks() } else { call }
        })
        .collect();
    let kept = reply.indexed().filter(|(index, _)| !dropped.contains(index));
    let blocks = kept.map(|(_, block)| block.clone()).collect();
    with_run(c, |run| {
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        run.counters.tool_calls = run.counters.tool_calls.saturating_add(count);
        run.phase = Phase::Acting(Round {
            ask,
            blocks,
            calls,
            note: note.cloned(),
            fatal: Fatality::GoesOn,
        });
    });
}

pub(super) fn input_changed(c: &mut Conversation, input: &Input, id: CallId) {
    let Input::HookAnswered { answer: HookAnswer::Change { input, facts, .. }, .. } = input else {
        return;
    };
    with_call(c, id, |call| {
        call.tool_use.input = input.clone();
        call.facts = Arc::new(facts.as_ref().clone());
        call.state = CallState::Unjudged;
    });
}

pub(super) fn judged(c: &mut Conversation, id: CallId, verdict: &Verdict) {
    let state = match verdict {
        Verdict::Allow { .. } => CallState::Ready,
        Verdict::Refer {} => CallState::Referred,
        // What follows in the same entry says more: a question, or the final result.
        Verdict::Ask { .. } | Verdict::Deny { .. } => CallState::Unjudged,
    };
    set(c, id, state);
}

pub(super) fn let_go(c: &mut Conversation, id: CallId, at: Millis) {
    with_call(c, id, |call| {
        call.attempts = call.attempts.saturating_add(1);
        call.state = CallState::Running { since: at };
    });
}

/// An attempt that failed in passing, and the pause after it, are taken from the call's time.
pub(super) fn retried(c: &mut Conversation, at: Millis, input: &Input, id: CallId, until: Millis) {
    let Input::ToolReturned { started_at, outcome, .. } = input else { return };
    with_call(c, id, |call| {
        let spent_ms = call.retry_ms(*started_at, at, until, outcome);
        let Retries { granted, used_ms } = &mut call.retries;
        *granted = granted.saturating_add(1);
        *used_ms = used_ms.saturating_add(spent_ms);
        // That a repeatable call was let go is not stored; that it came back is.
        call.attempts = call.attempts.max(*granted);
        call.state = CallState::Resting { until };
    });
}

/// When it started is known; that it ended is noticed now.
pub(super) fn lost(c: &mut Conversation, at: Millis, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::Running { since } = call.state {
            call.ran = Some(Span { started_at: since, ended_at: at });
        }
        call.state = CallState::Lost;
    });
}

pub(super) fn completed(c: &mut Conversation, at: Millis, input: &Input, id: CallId) {
    let Input::ToolReturned { outcome, started_at, .. } = input else { return };
    with_call(c, id, |call| {
        call.ran = Some(Span { started_at: *started_at, ended_at: at });
        call.state = CallState::AfterHook(outcome.clone());
    });
}

pub(super) fn settled(c: &mut Conversation, at: Millis, id: CallId, shown: &Settlement) {
    children::given_up(c, id);
    with_call(c, id, |call| {
        // A call that is interrupted did run until now. When a repeatable one began is not stored.
        if let CallState::Running { since } = call.state
            && !call.facts.is_repeatable()
        {
            call.ran = Some(Span { started_at: since, ended_at: at });
        }
        let shown = match (shown, &call.state) {
            (Settlement::Shown(shown), _) => shown.clone(),
            (Settlement::AsCompleted {}, CallState::AfterHook(outcome)) => {
                let Some(content) = outcome.content().cloned() else { return };
                Shown { kind: OutcomeKind::Done, content, flag: ErrorFlag::Fine }
            }
            (Settlement::AsCompleted {}, _) => return,
        };
        call.state = CallState::Settled(shown);
    });
}

/// What a hook said is told after the results.
pub(super) fn context_added(c: &mut Conversation, input: &Input) {
    let Input::HookAnswered { context: Some(context), .. } = input else { return };
    with_round(c, |round| {
        let note = round.note.iter().map(AsRef::as_ref).chain([&**context]).collect::<Vec<_>>();
        round.note = Some(Arc::from(note.join("\n")));
    });
}

pub(super) fn classified(c: &mut Conversation, input: &Input) {
    if let Input::Classified { usage, .. } = input {
        let price = c.price_beside();
        charge(c, usage, price.as_ref());
    }
}

pub(super) fn structured(c: &mut Conversation, id: CallId) {
    let Some(run) = &mut c.run else { return };
    let given =
        run.round().and_then(|round| round.call(id)).map(|call| call.tool_use.input.clone());
    run.structured = given;
}

/// What the watch for circles and the gate keep of a round.
fn witness(run: &mut Run, settings: Option<&Settings>) {
    let Some(settings) = settings else { return };
    let Some(calls) = run.round().map(|round| round.calls.clone()) else { return };
    let seen: Vec<Seen> = calls.iter().filter_map(Call::seen).collect();
    run.guard.remember(&seen, Detectors::of(settings));
    for call in calls.iter().filter(|call| call.has_worked()) {
        if settings.gate.counts(&call.tool_use.name) {
            run.done.count(&call.tool_use.name);
        }
    }
}

pub(super) fn round_closed(c: &mut Conversation) {
    let Some(run) = &mut c.run else { return };
    witness(run, c.settings.as_deref());
    let Some(round) = run.round() else { return };
    let results: Vec<Block> = round.calls.iter().filter_map(result_block).collect();
    let note = round.note.clone();
    if c.transcript.push_round(&round.blocks, results).is_err() {
        return;
    }
    if let Some(note) = note {
        c.transcript.push_note(&note);
    }
    run.counters.tool_rounds = run.counters.tool_rounds.saturating_add(1);
    run.pieces.clear();
    match &mut run.phase {
        Phase::Halted(halt) => halt.round = None,
        Phase::Between
        | Phase::Asking(_)
        | Phase::Deferred { .. }
        | Phase::Acting(_)
        | Phase::Consulting(_) => run.phase = Phase::Between,
    }
}

fn result_block(call: &Call) -> Option<Block> {
    let CallState::Settled(shown) = &call.state else { return None };
    Some(Block::tool_result(&call.tool_use.id, &shown.content, shown.flag))
}

/// What a fatal failure says in full is kept for the event of the run's end.
pub(super) fn turned_fatal(c: &mut Conversation, input: &Input) {
    if let Input::ToolReturned { outcome: Outcome::Failed(error), .. } = input {
        with_run(c, |run| run.last_error = Some(Arc::from(error.whole())));
    }
    with_round(c, |round| round.fatal = Fatality::Fatal);
}
