//! Lines about batches of tool calls, for readers that want them. A model writes each line beside
//! the loop, which never waits for it: a line that is not there when the run ends is given up.
//!
//! Lines are not recorded. What they cost is, in the run that they are about.

use std::sync::Arc;
use std::task::Poll;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::log::entry::Entry;
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::message::truncate::truncate_text;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::{is_parked, is_waiting_for_children};

use super::run_moments::calls_of_round;
use super::{DriveError, Driver};
use crate::effect_runner::call_side_model;
use crate::feed::{LaneReaders, StreamItem};

#[cfg(test)]
#[path = "call_summaries_tests.rs"]
mod call_summaries_tests;

/// Lines that are written at once; a batch that finds so many before it gets none.
const MAX_IN_FLIGHT: usize = 4;

/// Calls of a batch that the model reads.
const MAX_CALLS: usize = 20;

/// Characters of the input, and of the result, of each call that the model reads.
const CALL_CHARS: u64 = 400;

/// The longest line, in characters.
const MAX_LINE_CHARS: usize = 200;

/// The lines that are being written. Most conversations never have one: nothing is there until the
/// first.
#[derive(Default)]
pub(super) struct CallSummaries(Option<Box<StartedSummaries>>);

struct StartedSummaries {
    in_flight: Vec<SummaryInFlight>,
    last_id: u64,
    finished: mpsc::Receiver<FinishedSummary>,
    sender: mpsc::Sender<FinishedSummary>,
}

struct SummaryInFlight {
    id: u64,
    /// What the line costs if nothing else is known.
    estimate: TokenUsage,
    task: AbortHandle,
}

impl Drop for SummaryInFlight {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What became of a line.
pub(super) struct FinishedSummary {
    id: u64,
    usage: TokenUsage,
    tool_use_ids: Arc<[String]>,
    line: Option<Arc<str>>,
}

impl Default for StartedSummaries {
    fn default() -> Self {
        let (sender, finished) = mpsc::channel(MAX_IN_FLIGHT);
        Self { in_flight: Vec::new(), last_id: 0, finished, sender }
    }
}

impl CallSummaries {
    /// Waits for the next line.
    pub(super) fn next(&mut self) -> impl Future<Output = FinishedSummary> {
        std::future::poll_fn(move |context| match &mut self.0 {
            Some(started) => match started.finished.poll_recv(context) {
                Poll::Ready(Some(finished)) => Poll::Ready(finished),
                // The sender belongs to `self`.
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            },
            None => Poll::Pending,
        })
    }

    fn in_flight(&self) -> usize {
        self.0.as_ref().map_or(0, |started| started.in_flight.len())
    }
}

impl StartedSummaries {
    /// Takes a line out of those in flight. One that was given up has been charged already.
    fn remove(&mut self, finished: &FinishedSummary) -> Option<SummaryInFlight> {
        let index = self.in_flight.iter().position(|flight| flight.id == finished.id)?;
        Some(self.in_flight.swap_remove(index))
    }

    /// Gives up every line, and returns what they are charged with.
    fn give_up(&mut self) -> TokenUsage {
        let mut charged = TokenUsage::default();
        while let Ok(finished) = self.finished.try_recv() {
            if self.remove(&finished).is_some() {
                charged.add(&finished.usage);
            }
        }
        for flight in self.in_flight.drain(..) {
            // The provider may have done the work.
            charged.add(&flight.estimate);
        }
        charged
    }
}

impl Driver {
    /// Starts a line about each round that was closed, if a reader wants them.
    pub(super) fn summarise_rounds(&mut self, entries: &[Arc<Entry>]) {
        let closed = |entry: &Arc<Entry>| entry.records.contains(&Record::RoundClosed {});
        if !entries.iter().any(closed) || !is_working(&self.conversation) {
            return;
        }
        let readers = LaneReaders { feed: self.feed.clone(), owner: self.owner.clone() };
        if !readers.want_call_summaries() || self.call_summaries.in_flight() >= MAX_IN_FLIGHT {
            return;
        }
        let calls = calls_of_round(&self.conversation);
        let tool_use_ids: Arc<[String]> = calls.iter().map(|(one, _)| one.id.to_string()).collect();
        let Some((request, estimate)) =
            self.conversation.tool_summary_request(&describe_calls(&calls))
        else {
            return;
        };
        let (model, clock) = (Arc::clone(&self.ports.model), Arc::clone(&self.ports.clock));
        let summaries = self.call_summaries.0.get_or_insert_default();
        summaries.last_id += 1;
        let (id, sender) = (summaries.last_id, summaries.sender.clone());
        let task = tokio::spawn(async move {
            let reply = call_side_model(model, request, clock.as_ref()).await.ok();
            let usage = reply.as_ref().map(|reply| reply.usage).unwrap_or_default();
            let line = reply.and_then(|reply| first_line(&reply.text()));
            // Fails only if the driver is gone.
            _ = sender.send(FinishedSummary { id, usage, tool_use_ids, line }).await;
        });
        summaries.in_flight.push(SummaryInFlight { id, estimate, task: task.abort_handle() });
    }

    /// Charges a line and shows it to the readers.
    pub(super) async fn on_calls_summarised(
        &mut self,
        finished: FinishedSummary,
    ) -> Result<(), DriveError> {
        let started = self.call_summaries.0.as_mut();
        if started.and_then(|started| started.remove(&finished)).is_none() {
            return Ok(());
        }
        if finished.usage != TokenUsage::default() {
            self.run_step(vec![Input::HookModelUsed { usage: finished.usage }]).await?;
        }
        if let Some(summary) = finished.line {
            let tool_use_ids = finished.tool_use_ids;
            self.publish_items(vec![StreamItem::CallSummary { tool_use_ids, summary }]).await;
        }
        Ok(())
    }

    /// Gives up the lines that are still being written if the run ends with these inputs, and
    /// charges the run with them first: what comes after its end is not part of its cost.
    pub(super) fn with_summary_charges(
        &mut self,
        mut inputs: Vec<Input>,
    ) -> Result<Vec<Input>, DriveError> {
        if self.call_summaries.in_flight() == 0 || !self.would_end_run(&inputs)? {
            return Ok(inputs);
        }
        let usage = self.call_summaries.0.take().map(|mut it| it.give_up()).unwrap_or_default();
        if usage != TokenUsage::default() {
            inputs.insert(0, Input::HookModelUsed { usage });
        }
        Ok(inputs)
    }

    /// Decides inputs on a copy that is thrown away, and returns whether the run is over then, or
    /// waits for someone else.
    fn would_end_run(&mut self, inputs: &[Input]) -> Result<bool, DriveError> {
        let after = self.preview_inputs(inputs.to_vec())?;
        let run_id = |conversation: &Conversation| conversation.run.as_ref().map(run_id);
        Ok(run_id(&after) != run_id(&self.conversation) || !is_working(&after))
    }
}

fn run_id(run: &Run) -> windlass_core::log::ids::RunId {
    run.id.clone()
}

/// Returns whether the loop has something to do in this conversation.
fn is_working(conversation: &Conversation) -> bool {
    let waits = || is_parked(conversation) || is_waiting_for_children(conversation);
    conversation.run.is_some() && !waits()
}

/// Describes calls and their results for the model that summarises them.
fn describe_calls(calls: &[(ToolUse, Option<RawJson>)]) -> String {
    let mut text = String::new();
    for (tool_use, result) in calls.iter().take(MAX_CALLS) {
        let input = truncate_text(tool_use.input.text(), CALL_CHARS);
        let result = result.as_ref().map(result_text).unwrap_or_default();
        let result = truncate_text(&result, CALL_CHARS);
        text.push_str(&format!("Call: {} {input}\nResult: {result}\n\n", tool_use.name));
    }
    match calls.len().saturating_sub(MAX_CALLS) {
        0 => {}
        more => text.push_str(&format!("… and {more} more calls\n")),
    }
    text
}

/// The text of the content of a tool result.
fn result_text(content: &RawJson) -> String {
    match content.read() {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(blocks)) => {
            let part = |block: &Value| {
                let text = block.get("text").or_else(|| block.get("type"))?;
                text.as_str().map(str::to_owned)
            };
            blocks.iter().filter_map(part).collect::<Vec<_>>().join("\n")
        }
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Makes one printable line of what the model said.
fn first_line(text: &str) -> Option<Arc<str>> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let printable = line.chars().filter(|c| !c.is_control()).take(MAX_LINE_CHARS);
    let line: String = printable.collect();
    let line = line.trim_matches('"').trim();
    (!line.is_empty()).then(|| Arc::from(line))
}
