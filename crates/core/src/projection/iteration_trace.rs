//! Iteration trace: one row per iteration; the last one of a run says why the run ended.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::sync::Arc;

use super::{TraceCall, TraceRow};
use crate::call::call_state::{Call, CallState};
use crate::log::entry::Entry;
use crate::log::record::Record;
use crate::message::content_block::ErrorFlag;
use crate::message::reply::TokenUsage;
use crate::run::active_run::{Round, Run};
use crate::run::conversation::Conversation;

/// Holds the row of an iteration back until it is known whether the run ends with it.
#[derive(Default)]
pub(super) struct TraceBuilder {
    pending: Option<TraceRow>,
}

impl TraceBuilder {
    /// Handles a record that is about to be applied; returns the row that is complete.
    pub(super) fn before_record(
        &mut self,
        now: &Conversation,
        entry: &Entry,
        record: &Record,
    ) -> Option<TraceRow> {
        match record {
            Record::RoundClosed {} => {
                let round = now.run.as_ref().and_then(Run::round);
                self.pending.replace(iteration_row(now, entry, round)?)
            }
            Record::ReplyKept {} | Record::ReplyDropped { .. } => {
                self.pending.replace(iteration_row(now, entry, None)?)
            }
            Record::RunFinished { run, cause, .. } => {
                let active = now.run.as_ref().is_some_and(|active| active.id == *run);
                if !active {
                    return None;
                }
                let row = self.pending.take().or_else(|| closing_row(now, entry));
                row.map(|row| with_run_end_reason(row, cause.trace_reason()))
            }
            _ => None,
        }
    }

    pub(super) fn finish(self) -> Option<TraceRow> {
        self.pending
    }
}

/// Returns the last row of a run with the reason why the run ended. The stop reason of the model is
/// kept beside it: for an unknown one, that is all there is to analyse.
fn with_run_end_reason(row: TraceRow, reason: &str) -> TraceRow {
    let text = Some(row.stop_reason).filter(|text| !text.is_empty() && &**text != reason);
    TraceRow { stop_reason: Arc::from(reason), reply_stop_reason: text, ..row }
}

fn iteration_row(now: &Conversation, entry: &Entry, round: Option<&Round>) -> Option<TraceRow> {
    let run = now.run.as_ref()?;
    let last = now.last_reply.as_ref()?;
    Some(TraceRow {
        run: run.id.clone(),
        iter: run.counters.iterations,
        stop_reason: Arc::from(last.reply.stop_reason.as_str()),
        reply_stop_reason: None,
        model: now.active_model().map(|model| model.name.clone()),
        tool_calls: round
            .map(|round| round.calls.iter().map(trace_call).collect())
            .unwrap_or_default(),
        usage: last.reply.usage,
        transition: last.transition.name(),
        at: entry.at,
    })
}

/// Returns the last row of a run that ends between two replies.
fn closing_row(now: &Conversation, entry: &Entry) -> Option<TraceRow> {
    let run = now.run.as_ref()?;
    Some(TraceRow {
        run: run.id.clone(),
        iter: run.counters.iterations,
        stop_reason: Arc::from(""),
        reply_stop_reason: None,
        model: now.active_model().map(|model| model.name.clone()),
        tool_calls: Vec::new(),
        usage: TokenUsage::default(),
        transition: "finish",
        at: entry.at,
    })
}

fn trace_call(call: &Call) -> TraceCall {
    let fine =
        matches!(&call.state, CallState::Finished(shown) if shown.error_flag == ErrorFlag::Success);
    TraceCall {
        name: call.tool_use.name.clone(),
        input_hash: call.tool_use.input.canonical_hash_hex(),
        ms: call.run_span.map_or(0, |span| span.duration_ms()),
        ok: fine,
        outcome: match &call.state {
            CallState::Finished(result) => result.kind.as_str(),
            CallState::AwaitingPreHook
            | CallState::AwaitingPermission
            | CallState::AwaitingClassifier
            | CallState::Ready
            | CallState::AwaitingHuman(_)
            | CallState::Running { .. }
            | CallState::AwaitingChildren(_)
            | CallState::AwaitingRetry { .. }
            | CallState::Lost
            | CallState::AwaitingPostHook(_) => "",
        },
    }
}
