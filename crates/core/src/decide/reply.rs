//! The model answered: the stop table's reading, with ladders and limits applied.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::boundary::{self, ask, finish, finish_badly};
use super::calls;
use super::draft::Draft;
use crate::ids::AskId;
use crate::record::{OutputBound, Record, Transition, Truncation};
use crate::reply::{Reply, StopReason};
use crate::run::{Asking, Run};
use crate::stop::{self, Anomaly, Next, StopCause};
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
    draft.record(Record::Replied { ask: id, truncation: truncation(reply) });
    if let Some(what) = anomaly {
        draft.record(Record::Anomaly { what });
    }
    follow(draft, next, &asking, reply);
}

fn truncation(reply: &Reply) -> Truncation {
    match (&reply.stop_reason, &reply.cut) {
        (StopReason::MaxTokens, _) | (_, Some(_)) => Truncation::Cut,
        (_, None) => Truncation::Whole,
    }
}

fn follow(draft: &mut Draft<'_>, next: Next, asking: &Asking, reply: &Reply) {
    match next {
        Next::Finish => finish_answer(draft, StopCause::EndTurn, reply),
        Next::FinishOnStopString => finish_answer(draft, StopCause::StopSequence, reply),
        Next::FinishUnexpected => finish_answer(draft, StopCause::Unexpected, reply),
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
        Next::Reprompt(_) => reprompt(draft),
        Next::Resume => {
            draft.record(Record::ReplyKept {});
            ask(draft, Transition::Resume);
        }
        Next::GoOn => keep_and_ask(draft, words::CONTINUE_TEXT, Transition::ContinueText),
    }
}

/// A finished answer is never lost: it comes before every other reason to stop. Only a person who
/// said something more meanwhile keeps the run going.
fn finish_answer(draft: &mut Draft<'_>, cause: StopCause, reply: &Reply) {
    draft.record(Record::ReplyKept {});
    let steered = draft.run().is_some_and(|run| !run.steers.is_empty());
    if steered && boundary::can_ask(draft) {
        return ask(draft, Transition::Steer);
    }
    let text = draft.run().map(|run| run.pieces.concat()).unwrap_or_default();
    let causes = with_others(draft, cause);
    let said = match (text.trim().is_empty(), cause) {
        (false, _) => None,
        (true, StopCause::Unexpected) => Some(Arc::from("")),
        (true, _) => Some(Arc::from(words::EMPTY_ANSWER)),
    };
    if said.is_some() && reply.tool_uses().next().is_none() {
        draft.record(Record::Anomaly { what: Anomaly::EmptyAnswer });
    }
    finish(draft, &causes, said);
}

/// What ended the run, and what would have.
fn with_others(draft: &Draft<'_>, cause: StopCause) -> Vec<StopCause> {
    let others = boundary::causes_before_tools(draft).into_iter().filter(|also| applies(*also));
    std::iter::once(cause).chain(others).collect()
}

/// Limits on tools do not apply to an answer that asks for none.
fn applies(also: StopCause) -> bool {
    also != StopCause::MaxToolRounds
}

fn refuse(draft: &mut Draft<'_>) {
    draft.record(Record::ReplyDropped {});
    let causes = with_others(draft, StopCause::Refusal);
    finish(draft, &causes, Some(Arc::from(words::REFUSAL)));
}

fn run_tools(draft: &mut Draft<'_>, reply: &Reply, note: Option<&str>) {
    let causes = boundary::causes_before_tools(draft);
    if !causes.is_empty() {
        draft.record(Record::ReplyKept {});
        return finish_badly(draft, &causes);
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
    if asking.bound == OutputBound::Budget {
        draft.record(Record::ReplyDropped {});
        finish_badly(draft, &[StopCause::BudgetTokens]);
    } else if cuts <= 1 && asking.max_tokens < most {
        draft.record(Record::ReplyDropped {});
        boundary::ask_with_cap(draft, Transition::RaiseCap, most);
    } else if cuts <= settings.limits.truncations {
        keep_and_ask(draft, sentence, transition);
    } else {
        make_room_and_continue(draft, sentence, StopCause::TruncationExhausted);
    }
}

fn keep_and_ask(draft: &mut Draft<'_>, sentence: &str, transition: Transition) {
    draft.record(Record::ReplyKept {});
    draft.record(Record::Noted { text: Arc::from(sentence) });
    ask(draft, transition);
}

fn make_room_and_continue(draft: &mut Draft<'_>, sentence: &str, otherwise: StopCause) {
    draft.record(Record::ReplyKept {});
    if make_room(draft) {
        draft.record(Record::Noted { text: Arc::from(sentence) });
        ask(draft, Transition::Compacted);
    } else {
        finish_badly(draft, &[otherwise]);
    }
}

/// Emergency compaction, once per run: old messages give way to a sentence.
pub(super) fn make_room(draft: &mut Draft<'_>) -> bool {
    let kept = draft.limits().kept_messages;
    let used = draft.run().map_or(0, |run| run.counters.reactive_compactions);
    match draft.now().transcript.cut_point(kept) {
        Some(keep_from) if used == 0 => {
            let note = Arc::from(words::left_out(keep_from));
            draft.record(Record::Compacted { keep_from: keep_from as u64, note });
            true
        }
        Some(_) | None => false,
    }
}

/// The drift guard: the output is thrown away and asked for again, a bounded number of times.
fn reprompt(draft: &mut Draft<'_>) {
    draft.record(Record::ReplyDropped {});
    let reprompts = draft.run().map_or(0, |run| run.counters.reprompts);
    if reprompts < draft.limits().reprompts {
        draft.record(Record::Noted { text: Arc::from(words::REPROMPT) });
        ask(draft, Transition::Reprompt);
    } else {
        finish_badly(draft, &[StopCause::Unexpected]);
    }
}
