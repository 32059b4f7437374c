//! Rows of the tables that are derived from the log.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::CheckpointKind;
use crate::budget::spending::Spending;
use crate::call::call_state::{Call, CallState};
use crate::log::entry::Entry;
use crate::log::ids::{CallId, RunId, Seq, UnixMillis};
use crate::log::input::Input;
use crate::log::record::Record;
use crate::log::redact;
use crate::message::content_block::ContentBlock;
use crate::message::raw_json::RawJson;
use crate::message::reply::TokenUsage;
use crate::run::active_run::RunCounters;
use crate::run::conversation::{Conversation, QueuedPrompt};
use crate::run::wanted::{is_parked, is_waiting_on_provider};
use crate::settings::conversation_settings::{ResumePolicy, Settings};
use crate::stop::{RunState, StopCause};

/// A row of one of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// The state of a run; replaces the previous row.
    Run(RunRow),
    /// One iteration of the loop (`agent_loop_trace`).
    Trace(TraceRow),
    /// One tool call (`agent_tool_results`); replaces the previous row.
    ToolResult(ToolResultRow),
    /// A safe boundary (checkpoint).
    Checkpoint(CheckpointRow),
    /// An event.
    Event(EventRow),
    /// What a provider reported beside a reply.
    Raw(RawRow),
}

impl Row {
    /// Returns the row without secrets: rows are for people. The log keeps what the model must see
    /// again.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        let clean = |text: Arc<str>| match redact::without_secrets(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => Arc::from(clean),
        };
        match self {
            Self::Run(row) => {
                let prompt = row.description.prompt.map(clean);
                let description = RunDescription { prompt, ..row.description };
                Self::Run(RunRow { text: row.text.map(clean), description, ..row })
            }
            Self::Trace(row) => {
                let reply_stop_reason = row.reply_stop_reason.map(clean);
                let stop_reason = clean(row.stop_reason);
                Self::Trace(TraceRow { stop_reason, reply_stop_reason, ..row })
            }
            Self::ToolResult(row) => {
                let outcome = row.outcome.map(|text| redact::without_secrets(&text).into_owned());
                Self::ToolResult(ToolResultRow { outcome, ..row })
            }
            Self::Event(row) => {
                let fields = redact::json_without_secrets(&row.fields);
                Self::Event(EventRow { fields, ..row })
            }
            Self::Raw(row) => {
                let body = redact::json_without_secrets(&row.body);
                Self::Raw(RawRow { body, response: row.response.map(clean), ..row })
            }
            row @ Self::Checkpoint(_) => row,
        }
    }
}

/// What a provider reported beside a reply: ids, the model that answered, its token counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// The run.
    pub run: Option<RunId>,
    /// Sequence number of the entry with the reply.
    pub seq: Seq,
    /// When the reply arrived.
    pub at: UnixMillis,
    /// Fields of the report, as a JSON object.
    pub body: RawJson,
    /// The response body as it arrived.
    pub response: Option<Arc<str>>,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The run.
    pub run: RunId,
    /// State of the run.
    pub state: RunState,
    /// Why the run ended.
    pub cause: Option<StopCause>,
    /// Other stop causes that applied.
    pub other_causes: Vec<StopCause>,
    /// Text of the result; only a run that ended has one.
    pub text: Option<Arc<str>>,
    /// Counters of the run.
    pub counters: RunCounters,
    /// What the run and its child runs cost so far; unknown for a model without a price.
    pub usd_micros: Option<u64>,
    /// Description of the run, in the rows that set it.
    pub description: RunDescription,
    /// A stop was requested. Stores keep it once set.
    pub cancel_requested: bool,
    /// Time of this row.
    pub at: UnixMillis,
}

/// Description of a run, for lists of runs. It is written when the run is queued and when it
/// starts; a field that is not given keeps the value of the previous row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunDescription {
    /// The first line of the prompt, truncated to [`PROMPT_CHARS`] characters.
    pub prompt: Option<Arc<str>>,
    /// The folder that the tools work in.
    pub folder: Option<Arc<str>>,
    /// The agent that drives the run.
    pub agent: Option<Arc<str>>,
    /// The profile that the limits come from.
    pub profile: Option<Arc<str>>,
    /// The model that the run calls.
    pub model: Option<Arc<str>>,
    /// What happens to the run when its process dies.
    pub resume: Option<ResumePolicy>,
}

/// Characters of a prompt that the description keeps.
pub const PROMPT_CHARS: usize = 200;

impl RunDescription {
    /// Returns the description of a prompt that no conversation has read yet, without secrets.
    #[must_use]
    pub fn from_prompt(blocks: &[ContentBlock]) -> Self {
        let prompt = first_prompt_line(blocks);
        let prompt = prompt.map(|line| Arc::from(redact::without_secrets(&line).as_ref()));
        Self { prompt, ..Self::default() }
    }

    /// Returns the description of a run with these settings, without its prompt.
    fn from_settings(settings: Option<&Arc<Settings>>) -> Self {
        let Some(settings) = settings else { return Self::default() };
        let given = |text: &Arc<str>| (!text.is_empty()).then(|| text.clone());
        Self {
            prompt: None,
            folder: given(&settings.rules.root),
            agent: given(&settings.agent),
            profile: given(&settings.profile),
            model: given(&settings.model.name),
            resume: Some(settings.resume),
        }
    }

    /// Returns the description with missing fields taken from an earlier row.
    #[must_use]
    pub fn with_defaults_from(self, earlier: &Self) -> Self {
        Self {
            prompt: self.prompt.or_else(|| earlier.prompt.clone()),
            folder: self.folder.or_else(|| earlier.folder.clone()),
            agent: self.agent.or_else(|| earlier.agent.clone()),
            profile: self.profile.or_else(|| earlier.profile.clone()),
            model: self.model.or_else(|| earlier.model.clone()),
            resume: self.resume.or(earlier.resume),
        }
    }
}

/// Returns the first line of what the user wrote. Attached files stand before it.
fn first_prompt_line(blocks: &[ContentBlock]) -> Option<Arc<str>> {
    let text = blocks.iter().rev().find_map(ContentBlock::as_text)?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(PROMPT_CHARS).collect::<String>().into())
}

/// One iteration of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceRow {
    /// The run.
    pub run: RunId,
    /// Number of the iteration in the run, counted from 1. Provider retries belong to their
    /// iteration.
    pub iter: u32,
    /// Why the reply stopped; in the last row of a run, why the run ended.
    pub stop_reason: Arc<str>,
    /// Why the reply stopped, where `stop_reason` says why the run ended and differs.
    pub reply_stop_reason: Option<Arc<str>>,
    /// The model that was called.
    pub model: Option<Arc<str>>,
    /// The calls of the reply.
    pub tool_calls: Vec<TraceCall>,
    /// Tokens that the iteration used.
    pub usage: TokenUsage,
    /// Why the iteration existed.
    pub transition: &'static str,
    /// When the iteration ended.
    pub at: UnixMillis,
}

/// A call in the trace: with a hash instead of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceCall {
    /// Name of the tool.
    pub name: Arc<str>,
    /// SHA-256 of the canonical input.
    pub input_hash: String,
    /// How long the call ran, in milliseconds.
    pub ms: u64,
    /// Whether the call succeeded.
    pub ok: bool,
    /// Name of the outcome; not a column of the trace.
    #[serde(skip)]
    pub outcome: &'static str,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResultRow {
    /// The run.
    pub run: RunId,
    /// The provider's id, verbatim.
    pub tool_call_id: Arc<str>,
    /// Our own id of the call, which tells repeated provider ids apart.
    pub call: String,
    /// Name of the tool.
    pub tool: Arc<str>,
    /// When the call was started.
    pub started_at: Option<UnixMillis>,
    /// When the result was final.
    pub completed_at: Option<UnixMillis>,
    /// Outcome of the call.
    pub outcome: Option<String>,
    /// How often the call was run, retries included; 0 if it never ran.
    pub attempts: u32,
    /// Sequence number of the entry with the result.
    pub result_seq: Option<Seq>,
}

/// A safe boundary (checkpoint).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// The run.
    pub run: RunId,
    /// Sequence number of the entry.
    pub seq: Seq,
    /// Kind of the checkpoint.
    pub kind: CheckpointKind,
    /// Iteration counter.
    pub iteration: u32,
    /// Number of segments the model sees.
    pub message_cursor: u64,
    /// Number of stored messages of the conversation, also those that a compaction removed from the
    /// transcript.
    pub persisted_messages: u64,
    /// Hash of the system prompt and tools.
    pub prompt_hash: Option<Arc<str>>,
    /// Calls of this iteration's reply that have their results.
    pub completed_calls: Vec<Arc<str>>,
}

/// An event for dashboards and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The run, if the event is about one.
    pub run: Option<RunId>,
    /// The agent that drives the conversation.
    pub agent: Arc<str>,
    /// The profile of the conversation; empty if none was chosen.
    pub profile: Arc<str>,
    /// Sequence number of the entry.
    pub seq: Seq,
    /// When the event happened.
    pub at: UnixMillis,
    /// Name of the event.
    pub name: &'static str,
    /// Fields of the event, as a JSON object.
    pub fields: RawJson,
}

/// Returns the row of a run that a record queued or ended. `now` has the record applied.
pub(super) fn run_row(now: &Conversation, entry: &Entry, record: &Record) -> Option<RunRow> {
    match record {
        Record::PromptQueued { .. } => {
            now.prompt_queue.back().map(|queued| queued_row(now, entry, queued))
        }
        Record::RunFinished { .. } => ended_row(now, entry),
        _ => None,
    }
}

fn queued_row(now: &Conversation, entry: &Entry, queued: &QueuedPrompt) -> RunRow {
    let description = RunDescription::from_settings(now.settings.as_ref());
    RunRow {
        run: queued.run.clone(),
        state: RunState::Queued,
        cause: None,
        other_causes: Vec::new(),
        text: None,
        counters: RunCounters::default(),
        usd_micros: None,
        description: RunDescription { prompt: first_prompt_line(&queued.blocks), ..description },
        cancel_requested: false,
        at: entry.at,
    }
}

/// Returns the agent and the profile of a conversation.
pub(super) fn agent_and_profile(now: &Conversation) -> (Arc<str>, Arc<str>) {
    let settings = now.settings.as_ref();
    settings.map(|it| (it.agent.clone(), it.profile.clone())).unwrap_or_default()
}

fn ended_row(now: &Conversation, entry: &Entry) -> Option<RunRow> {
    let ended = now.last_run_end.as_ref()?;
    Some(RunRow {
        run: ended.run.clone(),
        state: ended.cause.run_state(ended.text_presence()),
        cause: Some(ended.cause),
        other_causes: ended.other_causes.clone(),
        text: Some(ended.text.clone()),
        counters: ended.counters.clone(),
        usd_micros: cost_usd_micros(now, ended.spent),
        description: RunDescription::default(),
        cancel_requested: ended.cause == StopCause::UserCancel
            || ended.other_causes.contains(&StopCause::UserCancel),
        at: entry.at,
    })
}

/// Returns the state of the run that occupies its lane.
#[must_use]
pub fn active_state(conversation: &Conversation) -> RunState {
    match conversation {
        _ if is_parked(conversation) => RunState::WaitingOnHuman,
        _ if is_waiting_on_provider(conversation) => RunState::WaitingOnProvider,
        _ => RunState::Running,
    }
}

/// Returns the row of the active run, if the whole entry changed it.
pub(super) fn active_run_row(
    before: &Conversation,
    now: &Conversation,
    entry: &Entry,
) -> Option<RunRow> {
    let run = now.run.as_ref()?;
    let was = before.run.as_ref().filter(|was| was.id == run.id);
    // What the previous owner had in flight is not in the log: a new owner writes the current
    // state.
    let adopted = matches!(entry.input, Input::OwnerChanged { .. });
    let same = was.is_some_and(|was| {
        was.counters == run.counters
            && was.stop_request == run.stop_request
            && was.active_model == run.active_model
    }) && active_state(before) == active_state(now);
    let description = match was {
        // After a fallback the run belongs to the other model.
        Some(was) if was.active_model != run.active_model => {
            let model = now.active_model().map(|model| model.name.clone());
            RunDescription { model, ..RunDescription::default() }
        }
        // The settings may have changed while the run was queued.
        None => RunDescription::from_settings(now.settings.as_ref()),
        Some(_) => RunDescription::default(),
    };
    (adopted || !same).then(|| RunRow {
        run: run.id.clone(),
        state: active_state(now),
        cause: None,
        other_causes: Vec::new(),
        text: None,
        counters: run.counters.clone(),
        usd_micros: cost_usd_micros(now, run.spent),
        description,
        cancel_requested: run.stop_request.is_some(),
        at: entry.at,
    })
}

/// Returns what was spent, if the model has a price or something was paid nevertheless.
fn cost_usd_micros(now: &Conversation, spent: Spending) -> Option<u64> {
    (spent.usd_micros > 0 || now.active_price().is_some()).then_some(spent.usd_micros)
}

/// Returns the row of a call that a record started or finished. `before` has the record not yet
/// applied.
pub(super) fn tool_result_row(
    before: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<ToolResultRow> {
    let run = before.run.as_ref()?;
    let (id, completed_at, outcome) = match record {
        Record::CallStarted { call } => (call, None, None),
        // Flaky tools are visible while they are retried.
        Record::CallRetryScheduled { call, .. } => (call, None, None),
        Record::ResultFinalized { call, result } => {
            (call, Some(entry.at), Some(result.outcome_name()))
        }
        _ => return None,
    };
    let call = run.round()?.call(*id)?;
    Some(ToolResultRow {
        run: run.id.clone(),
        tool_call_id: call.tool_use.id.clone(),
        call: call.id.to_string(),
        tool: call.tool_use.name.clone(),
        started_at: call_started_at(call, entry, record),
        completed_at,
        outcome,
        attempts: attempt_count(call, record),
        result_seq: completed_at.map(|_| entry.seq),
    })
}

/// Returns how often a call was run, this record included. The start of a repeatable call is not in
/// the log, so a call that returned is counted by its retries.
fn attempt_count(call: &Call, record: &Record) -> u32 {
    let has_run = call.run_span.is_some() || matches!(record, Record::CallRetryScheduled { .. });
    let returned = call.retries.count.saturating_add(u32::from(has_run));
    let started = u32::from(matches!(record, Record::CallStarted { .. }));
    call.attempts.saturating_add(started).max(returned)
}

fn call_started_at(call: &Call, entry: &Entry, record: &Record) -> Option<UnixMillis> {
    match (&call.state, record) {
        (_, Record::CallStarted { .. }) => Some(entry.at),
        (_, Record::CallRetryScheduled { .. }) => attempt_started_at(&entry.input),
        (CallState::Running { since }, _) => Some(*since),
        (_, _) => call.run_span.map(|span| span.started_at),
    }
}

/// Returns when the attempt started that has just returned.
fn attempt_started_at(input: &Input) -> Option<UnixMillis> {
    match input {
        Input::ToolReturned { started_at, .. } => Some(*started_at),
        _ => None,
    }
}

/// Returns a row for every running repeatable call, with its start. The start of such a call is not
/// in the log, so the driver writes its row once it runs long.
#[must_use]
pub fn running_call_rows(now: &Conversation) -> Vec<(CallId, UnixMillis, ToolResultRow)> {
    let Some(run) = &now.run else { return Vec::new() };
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    let running = calls.filter_map(|call| match call.state {
        CallState::Running { since } if call.facts.is_repeatable() => Some((call, since)),
        _ => None,
    });
    let row = |(call, since): (&Call, UnixMillis)| {
        let row = ToolResultRow {
            run: run.id.clone(),
            tool_call_id: call.tool_use.id.clone(),
            call: call.id.to_string(),
            tool: call.tool_use.name.clone(),
            started_at: Some(since),
            completed_at: None,
            outcome: None,
            attempts: call.attempts.max(call.retries.count.saturating_add(1)),
            result_seq: None,
        };
        (call.id, since, row)
    };
    running.map(row).collect()
}
