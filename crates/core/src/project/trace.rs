//! One trace row per iteration; the last one of a run says why the run ended.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::sync::Arc;

use super::{TraceCall, TraceRow};
use crate::block::ErrorFlag;
use crate::call::{Call, CallState};
use crate::conversation::Conversation;
use crate::log::Entry;
use crate::record::{Record, Transition};
use crate::reply::Usage;
use crate::run::{Round, Run};

/// Holds an iteration's row back until it is known whether the run ends with it.
#[derive(Default)]
pub(super) struct Tracer {
    pending: Option<TraceRow>,
}

impl Tracer {
    /// Looks at a record that is about to be applied; gives out the row that is complete.
    pub(super) fn before(
        &mut self,
        now: &Conversation,
        entry: &Entry,
        record: &Record,
    ) -> Option<TraceRow> {
        match record {
            Record::RoundClosed {} => {
                let round = now.run.as_ref().and_then(Run::round);
                self.pending.replace(iteration(now, entry, round)?)
            }
            Record::ReplyKept {} | Record::ReplyDropped { .. } => {
                self.pending.replace(iteration(now, entry, None)?)
            }
            Record::Finished { run, cause, .. } => {
                let active = now.run.as_ref().is_some_and(|active| active.id == *run);
                if !active {
                    return None;
                }
                let row = self.pending.take().or_else(|| closing(now, entry));
                row.map(|row| ended(row, cause.reason()))
            }
            _ => None,
        }
    }

    pub(super) fn finish(self) -> Option<TraceRow> {
        self.pending
    }
}

/// The last row of a run says why the run ended. What the model gave as its reason is kept beside
/// it: of an unknown one, that is all there is to look into.
fn ended(row: TraceRow, reason: &str) -> TraceRow {
    let said = Some(row.stop_reason).filter(|said| !said.is_empty() && &**said != reason);
    TraceRow { stop_reason: Arc::from(reason), reply_stop_reason: said, ..row }
}

fn iteration(now: &Conversation, entry: &Entry, round: Option<&Round>) -> Option<TraceRow> {
    let run = now.run.as_ref()?;
    let last = now.last_reply.as_ref()?;
    Some(TraceRow {
        run: run.id.clone(),
        iter: run.counters.iterations,
        stop_reason: Arc::from(last.reply.stop_reason.as_str()),
        reply_stop_reason: None,
        model: now.model_in_use().map(|model| model.name.clone()),
        tool_calls: round.map(|round| round.calls.iter().map(call).collect()).unwrap_or_default(),
        usage: last.reply.usage,
        transition: transition_name(last.transition),
        at: entry.at,
    })
}

/// A run that ends between two replies still has a last row.
fn closing(now: &Conversation, entry: &Entry) -> Option<TraceRow> {
    let run = now.run.as_ref()?;
    Some(TraceRow {
        run: run.id.clone(),
        iter: run.counters.iterations,
        stop_reason: Arc::from(""),
        reply_stop_reason: None,
        model: now.model_in_use().map(|model| model.name.clone()),
        tool_calls: Vec::new(),
        usage: Usage::default(),
        transition: "finish",
        at: entry.at,
    })
}

fn call(call: &Call) -> TraceCall {
    let fine = matches!(&call.state, CallState::Settled(shown) if shown.flag == ErrorFlag::Fine);
    TraceCall {
        name: call.tool_use.name.clone(),
        input_hash: call.tool_use.input.hash_hex(),
        ms: call.ran.map_or(0, |span| span.ms()),
        ok: fine,
        outcome: match &call.state {
            CallState::Settled(shown) => shown.kind.as_str(),
            CallState::BeforeHook
            | CallState::Unjudged
            | CallState::Referred
            | CallState::Ready
            | CallState::Questioned(_)
            | CallState::Running { .. }
            | CallState::Away(_)
            | CallState::Resting { .. }
            | CallState::Lost
            | CallState::AfterHook(_) => "",
        },
    }
}

fn transition_name(transition: Transition) -> &'static str {
    match transition {
        Transition::Prompt => "prompt",
        Transition::ToolResults => "run_tools",
        Transition::ContinueText => "continue_text",
        Transition::ReissueToolUse => "reissue_tool_use",
        Transition::RaiseCap => "raise_cap",
        Transition::Resume => "resume",
        Transition::Reprompt => "reprompt",
        Transition::Steer => "steer",
        Transition::Retry => "retry",
        Transition::Compacted => "compacted",
        Transition::Adopted => "adopted",
        Transition::Rejected => "rejected",
        Transition::Guided => "guided",
        Transition::SumUp => "sum_up",
    }
}
