//! The model answered: the stop table's reading, with ladders and limits applied.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::answer;
use super::boundary::{self, ask, finish, finish_badly};
use super::calls;
use super::clock;
use super::draft::Draft;
use super::guardrail;
use super::person;
use super::room;
use crate::ids::AskId;
use crate::record::{OutputBound, Record, Rejection, Transition, Truncation};
use crate::reply::{Reply, StopReason};
use crate::run::{Asking, Run};
use crate::stop::{self, Anomaly, Next, StopCause};
use crate::thrash::Level;
use crate::words;

pub(super) fn replied(draft: &mut Draft<'_>, id: AskId, reply: &Arc<Reply>) {
    let (Some(asking), Some(settings)) = (draft.run().and_then(Run::asking), draft.settings())
    else {
        return;
    };
    if asking.ask != id {
        return;
    }
    let asking = asking.clone();
    let (next, anomaly) = stop::read(reply, &settings.stop_map);
    let (truncation, decision) = (truncation(reply), next.decision());
    draft.record(Record::Replied { ask: id, truncation, decision });
    if let Some(what) = anomaly {
        draft.record(Record::Anomaly { what });
    }
    if asking.transition == Transition::SumUp {
        return summed_up(draft);
    }
    follow(draft, next, &asking, reply);
}

/// The last turn of a run whose time is up: whatever it says is the result.
fn summed_up(draft: &mut Draft<'_>) {
    draft.record(Record::ReplyKept {});
    answer::finish_with(draft, StopCause::SoftTime);
}

fn truncation(reply: &Reply) -> Truncation {
    match (&reply.stop_reason, &reply.cut) {
        (StopReason::MaxTokens, _) | (_, Some(_)) => Truncation::Cut,
        (_, None) => Truncation::Whole,
    }
}

fn follow(draft: &mut Draft<'_>, next: Next, asking: &Asking, reply: &Reply) {
    match next {
        Next::Finish => finish_answer(draft, StopCause::EndTurn),
        Next::FinishOnStopString => finish_answer(draft, StopCause::StopSequence),
        Next::FinishUnexpected => finish_answer(draft, StopCause::Unexpected),
        Next::Refuse => refuse(draft),
        Next::RunTools => run_tools(draft, reply, None),
        Next::RunToolsAndReissue => run_tools(draft, reply, Some(words::REISSUE_TOOL_USE)),
        Next::ReissueToolUse => {
            climb(draft, asking, words::REISSUE_TOOL_USE, Transition::ReissueToolUse);
        }
        Next::ContinueText => climb(draft, asking, words::CONTINUE_TEXT, Transition::ContinueText),
        Next::MakeRoom => {
            make_room_and_continue(draft, words::CONTINUE_TEXT, StopCause::BlockingLimit);
        }
        Next::Reprompt(reason) => reprompt(draft, reason),
        Next::Resume => {
            draft.record(Record::ReplyKept {});
            ask(draft, Transition::Resume);
        }
        Next::GoOn => keep_and_ask(draft, words::CONTINUE_TEXT, Transition::ContinueText),
    }
}

fn finish_answer(draft: &mut Draft<'_>, cause: StopCause) {
    draft.record(Record::ReplyKept {});
    answer::complete(draft, cause);
}

fn refuse(draft: &mut Draft<'_>) {
    draft.record(Record::ReplyDropped { why: None });
    let causes = answer::with_others(draft, StopCause::Refusal);
    finish(draft, &causes, Some(Arc::from(words::REFUSAL)));
}

fn run_tools(draft: &mut Draft<'_>, reply: &Reply, note: Option<&str>) {
    clock::look(draft);
    let mut causes = boundary::causes_to_run_no_tools(draft);
    if answer::is_given_by(draft, reply) {
        // A finished answer is never lost.
        causes.retain(|cause| matches!(cause, StopCause::UserCancel | StopCause::HardTime));
    }
    if !causes.is_empty() {
        draft.record(Record::ReplyKept {});
        return finish_badly(draft, &causes);
    }
    if boundary::is_summing_up(draft) {
        // What it said stays; what it wanted to do is for another run.
        draft.record(Record::ReplyKept {});
        return ask(draft, Transition::ToolResults);
    }
    let (dropped, names) = repeated(reply);
    if !dropped.is_empty() {
        draft.record(Record::Anomaly { what: Anomaly::RepeatedCallId });
    }
    let repeated = (!names.is_empty()).then(|| calls::repeated_ids_note(&names));
    let note = join_notes(note, repeated.as_deref());
    draft.record(Record::RoundOpened { dropped, note });
    calls::advance(draft);
}

fn join_notes(a: Option<&str>, b: Option<&str>) -> Option<Arc<str>> {
    let both: Vec<&str> = a.into_iter().chain(b).collect();
    (!both.is_empty()).then(|| Arc::from(both.join("\n")))
}

/// Calls whose id stands in the reply already: no result could be told from the other's.
fn repeated(reply: &Reply) -> (Vec<u16>, Vec<Arc<str>>) {
    let mut seen = BTreeSet::new();
    let again = |(_, call): &(u16, &crate::block::ToolUse)| !seen.insert(call.id.clone());
    reply.tool_uses().filter(again).map(|(index, call)| (index, call.name.clone())).unzip()
}

/// The truncation ladder: a larger cap, then the sentence, then room, then the end.
fn climb(draft: &mut Draft<'_>, asking: &Asking, sentence: &str, transition: Transition) {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else { return };
    let cuts = run.counters.truncations;
    let most = settings.model.most_output_tokens;
    let cap = match asking.bound {
        OutputBound::Cap => None,
        OutputBound::Budget => Some(StopCause::BudgetTokens),
        OutputBound::Money => Some(StopCause::BudgetUsd),
    };
    if let Some(cap) = cap {
        draft.record(Record::ReplyDropped { why: None });
        finish_badly(draft, &[cap]);
    } else if cuts <= 1 && asking.max_tokens < most {
        draft.record(Record::ReplyDropped { why: None });
        boundary::ask_with_cap(draft, Transition::RaiseCap, most);
    } else if cuts <= settings.limits.truncations {
        keep_and_ask(draft, sentence, transition);
    } else if cuts <= settings.limits.truncations.saturating_add(1) {
        make_room_and_continue(draft, sentence, StopCause::TruncationExhausted);
    } else {
        draft.record(Record::ReplyKept {});
        finish_badly(draft, &[StopCause::TruncationExhausted]);
    }
}

fn keep_and_ask(draft: &mut Draft<'_>, sentence: &str, transition: Transition) {
    draft.record(Record::ReplyKept {});
    draft.record(Record::Noted { text: Arc::from(sentence) });
    ask(draft, transition);
}

fn make_room_and_continue(draft: &mut Draft<'_>, sentence: &str, otherwise: StopCause) {
    draft.record(Record::ReplyKept {});
    if !draft.is_stopping() && room::can_react(draft) {
        draft.record(Record::Noted { text: Arc::from(sentence) });
        room::or_end(draft, Transition::Compacted, otherwise);
    } else {
        finish_badly(draft, &[otherwise]);
    }
}

/// The drift guard: the output is thrown away and asked for again, a bounded number of times; then
/// a person is asked. Where nobody can be asked the run ends.
fn reprompt(draft: &mut Draft<'_>, reason: Arc<str>) {
    draft.record(Record::ReplyDropped { why: Some(reason.clone()) });
    let by = Rejection::Drift;
    match guardrail::next_level(draft, by) {
        Level::Human if !person::is_reachable(draft) || draft.is_stopping() => {
            finish_badly(draft, &[StopCause::Unexpected]);
        }
        Level::Human => {
            guardrail::record(draft, by, &reason, Level::Human);
            guardrail::ask_person(draft, by, &reason);
        }
        level @ (Level::Calm | Level::Nudge | Level::Directive) => {
            guardrail::record(draft, by, &reason, level);
            ask(draft, Transition::Reprompt);
        }
    }
}
