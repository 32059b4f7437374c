//! The rows themselves.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::CheckpointKind;
use crate::block::Block;
use crate::budget::Spent;
use crate::call::{Call, CallState};
use crate::conversation::{Conversation, QueuedPrompt};
use crate::ids::{CallId, Millis, RunId, Seq};
use crate::input::Input;
use crate::log::Entry;
use crate::raw::Raw;
use crate::record::Record;
use crate::redact;
use crate::reply::Usage;
use crate::run::Counters;
use crate::settings::{ResumePolicy, Settings};
use crate::stop::{RunState, StopCause};
use crate::wanted::{is_parked, waits_on_provider};

/// A row of one of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// Where a run stands; replaces the row before.
    Run(RunRow),
    /// One iteration of the loop (`agent_loop_trace`).
    Trace(TraceRow),
    /// One tool call (`agent_tool_results`); replaces the row before.
    ToolResult(ToolResultRow),
    /// A safe boundary.
    Checkpoint(CheckpointRow),
    /// Something worth knowing later.
    Event(EventRow),
    /// What a provider said besides a reply.
    Raw(RawRow),
}

impl Row {
    /// The same without secrets: rows are for people. The log keeps what the model must see again.
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
                let fields = redact::raw_without_secrets(&row.fields);
                Self::Event(EventRow { fields, ..row })
            }
            Self::Raw(row) => {
                let body = redact::raw_without_secrets(&row.body);
                Self::Raw(RawRow { body, ..row })
            }
            row @ Self::Checkpoint(_) => row,
        }
    }
}

/// What a provider said besides a reply: ids, the model that answered, how it counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// Which run.
    pub run: Option<RunId>,
    /// The entry that has the reply.
    pub seq: Seq,
    /// When it came.
    pub at: Millis,
    /// What was said.
    pub body: Raw,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Which run.
    pub run: RunId,
    /// Its state.
    pub state: RunState,
    /// Why it ended.
    pub cause: Option<StopCause>,
    /// What else applied.
    pub also: Vec<StopCause>,
    /// Its text; only a run that ended has one.
    pub text: Option<Arc<str>>,
    /// What it used.
    pub counters: Counters,
    /// What it and its children cost so far; unknown for a model without a price.
    pub usd_micros: Option<u64>,
    /// What the run is about, where this row is the one that says so.
    pub description: RunDescription,
    /// Somebody asked it to end. Stores keep it once it was said.
    pub cancel_requested: bool,
    /// When this was so.
    pub at: Millis,
}

/// What a run is about, for lists of runs. It is written when the run is queued and when it begins;
/// a field that is not given keeps the value of the row before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunDescription {
    /// The first line of its prompt, cut after [`PROMPT_CHARS`] characters.
    pub prompt: Option<Arc<str>>,
    /// The folder that its tools work in.
    pub folder: Option<Arc<str>>,
    /// The agent that drives it.
    pub agent: Option<Arc<str>>,
    /// The profile that its limits come from.
    pub profile: Option<Arc<str>>,
    /// The model that it asks.
    pub model: Option<Arc<str>>,
    /// What becomes of it when its process dies.
    pub resume: Option<ResumePolicy>,
}

/// Characters of a prompt that a run's description keeps.
pub const PROMPT_CHARS: usize = 200;

impl RunDescription {
    /// The description of a prompt that no conversation has read yet, without secrets.
    #[must_use]
    pub fn from_prompt(blocks: &[Block]) -> Self {
        let prompt = prompt_line(blocks);
        let prompt = prompt.map(|line| Arc::from(redact::without_secrets(&line).as_ref()));
        Self { prompt, ..Self::default() }
    }

    /// The description of a run under these settings, without its prompt.
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

    /// The same with what was not given taken from an earlier row.
    #[must_use]
    pub fn or(self, earlier: &Self) -> Self {
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

/// The first line of what the person wrote. Files that were attached stand before it.
fn prompt_line(blocks: &[Block]) -> Option<Arc<str>> {
    let text = blocks.iter().rev().find_map(Block::as_text)?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(PROMPT_CHARS).collect::<String>().into())
}

/// One iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceRow {
    /// Which run.
    pub run: RunId,
    /// Which iteration of the run, counted from 1. Provider retries belong to their iteration.
    pub iter: u32,
    /// Why the reply stopped; in the last row of a run, why the run ended.
    pub stop_reason: Arc<str>,
    /// Why the reply stopped, where `stop_reason` says why the run ended and that is another word.
    pub reply_stop_reason: Option<Arc<str>>,
    /// The model that was asked.
    pub model: Option<Arc<str>>,
    /// The calls of the reply.
    pub tool_calls: Vec<TraceCall>,
    /// Tokens.
    pub usage: Usage,
    /// Why the iteration existed.
    pub transition: &'static str,
    /// When it ended.
    pub at: Millis,
}

/// A call, as the trace keeps it: a hash instead of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceCall {
    /// Which tool.
    pub name: Arc<str>,
    /// SHA-256 of its canonical input.
    pub input_hash: String,
    /// How long it ran.
    pub ms: u64,
    /// Whether it worked.
    pub ok: bool,
    /// How it ended, by the name of its outcome; not a column of the trace.
    #[serde(skip)]
    pub outcome: &'static str,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResultRow {
    /// Which run.
    pub run: RunId,
    /// The provider's id, verbatim.
    pub tool_call_id: Arc<str>,
    /// The call's own identity, which tells repeated ids apart.
    pub call: String,
    /// Which tool.
    pub tool: Arc<str>,
    /// When it was let go.
    pub started_at: Option<Millis>,
    /// When its result was final.
    pub completed_at: Option<Millis>,
    /// How it ended.
    pub outcome: Option<String>,
    /// How often it was run, retries included; 0 if it never ran.
    pub attempts: u32,
    /// The log entry that holds the result.
    pub result_seq: Option<Seq>,
}

/// A safe boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Which run.
    pub run: RunId,
    /// The entry it stands at.
    pub seq: Seq,
    /// What kind.
    pub kind: CheckpointKind,
    /// Iteration counter.
    pub iteration: u32,
    /// Segments the model sees.
    pub message_cursor: u64,
    /// Messages of the conversation that are stored, also those that a compaction took out of the
    /// model's sight.
    pub persisted_messages: u64,
    /// Hash of the system prompt and tools.
    pub prompt_hash: Option<Arc<str>>,
    /// Calls of this iteration's reply that have their results.
    pub completed_calls: Vec<Arc<str>>,
}

/// Something worth knowing later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Which run, if it is about one.
    pub run: Option<RunId>,
    /// Which agent drives the conversation.
    pub agent: Arc<str>,
    /// The profile it runs with; empty if none was chosen.
    pub profile: Arc<str>,
    /// The entry it belongs to.
    pub seq: Seq,
    /// When.
    pub at: Millis,
    /// Its name.
    pub name: &'static str,
    /// What it says, as a JSON object.
    pub fields: Raw,
}

/// The row of a run that a record began to hold or ended. `now` has the record applied.
pub(super) fn run(now: &Conversation, entry: &Entry, record: &Record) -> Option<RunRow> {
    match record {
        Record::Queued { .. } => now.queue.back().map(|queued| queued_row(now, entry, queued)),
        Record::Finished { .. } => ended(now, entry),
        _ => None,
    }
}

fn queued_row(now: &Conversation, entry: &Entry, queued: &QueuedPrompt) -> RunRow {
    let description = RunDescription::from_settings(now.settings.as_ref());
    RunRow {
        run: queued.run.clone(),
        state: RunState::Queued,
        cause: None,
        also: Vec::new(),
        text: None,
        counters: Counters::default(),
        usd_micros: None,
        description: RunDescription { prompt: prompt_line(&queued.blocks), ..description },
        cancel_requested: false,
        at: entry.at,
    }
}

/// The agent and the profile of a conversation.
pub(super) fn driven_by(now: &Conversation) -> (Arc<str>, Arc<str>) {
    let settings = now.settings.as_ref();
    settings.map(|it| (it.agent.clone(), it.profile.clone())).unwrap_or_default()
}

fn ended(now: &Conversation, entry: &Entry) -> Option<RunRow> {
    let ended = now.last_end.as_ref()?;
    Some(RunRow {
        run: ended.run.clone(),
        state: ended.cause.state(ended.has_text()),
        cause: Some(ended.cause),
        also: ended.also.clone(),
        text: Some(ended.text.clone()),
        counters: ended.counters.clone(),
        usd_micros: cost(now, ended.spent),
        description: RunDescription::default(),
        cancel_requested: ended.cause == StopCause::UserCancel
            || ended.also.contains(&StopCause::UserCancel),
        at: entry.at,
    })
}

/// The state of the run that occupies its lane.
#[must_use]
pub fn active_state(conversation: &Conversation) -> RunState {
    match conversation {
        _ if is_parked(conversation) => RunState::WaitingOnHuman,
        _ if waits_on_provider(conversation) => RunState::WaitingOnProvider,
        _ => RunState::Running,
    }
}

/// The active run's row, when the whole entry changed what it says.
pub(super) fn active(before: &Conversation, now: &Conversation, entry: &Entry) -> Option<RunRow> {
    let run = now.run.as_ref()?;
    let was = before.run.as_ref().filter(|was| was.id == run.id);
    // What the last owner had in the air is not in the log: a new one says how things stand.
    let adopted = matches!(entry.input, Input::Adopted { .. });
    let same = was.is_some_and(|was| {
        was.counters == run.counters && was.stop == run.stop && was.model == run.model
    }) && active_state(before) == active_state(now);
    let description = match was {
        // After a fallback the run is the other model's.
        Some(was) if was.model != run.model => {
            let model = now.model_in_use().map(|model| model.name.clone());
            RunDescription { model, ..RunDescription::default() }
        }
        // The settings may have changed while it was queued.
        None => RunDescription::from_settings(now.settings.as_ref()),
        Some(_) => RunDescription::default(),
    };
    (adopted || !same).then(|| RunRow {
        run: run.id.clone(),
        state: active_state(now),
        cause: None,
        also: Vec::new(),
        text: None,
        counters: run.counters.clone(),
        usd_micros: cost(now, run.spent),
        description,
        cancel_requested: run.stop.is_some(),
        at: entry.at,
    })
}

/// What was spent, if the model has a price or something was paid for all the same.
fn cost(now: &Conversation, spent: Spent) -> Option<u64> {
    (spent.usd_micros > 0 || now.price_in_use().is_some()).then_some(spent.usd_micros)
}

/// The call's row, when a record let it go or settled it. `before` has the record not yet applied.
pub(super) fn tool_result(
    before: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<ToolResultRow> {
    let run = before.run.as_ref()?;
    let (id, completed_at, outcome) = match record {
        Record::Started { call } => (call, None, None),
        // Flaky tools show while they are retried.
        Record::Retried { call, .. } => (call, None, None),
        Record::Settled { call, shown } => (call, Some(entry.at), Some(shown.name())),
        _ => return None,
    };
    let call = run.round()?.call(*id)?;
    Some(ToolResultRow {
        run: run.id.clone(),
        tool_call_id: call.tool_use.id.clone(),
        call: call.id.to_string(),
        tool: call.tool_use.name.clone(),
        started_at: started_at(call, entry, record),
        completed_at,
        outcome,
        attempts: attempts(call, record),
        result_seq: completed_at.map(|_| entry.seq),
    })
}

/// How often a call was run, this record included. That a repeatable call was let go is not in the
/// log, so one that came back is counted by its retries.
fn attempts(call: &Call, record: &Record) -> u32 {
    let has_run = call.ran.is_some() || matches!(record, Record::Retried { .. });
    let returned = call.retries.granted.saturating_add(u32::from(has_run));
    let started = u32::from(matches!(record, Record::Started { .. }));
    call.attempts.saturating_add(started).max(returned)
}

fn started_at(call: &Call, entry: &Entry, record: &Record) -> Option<Millis> {
    match (&call.state, record) {
        (_, Record::Started { .. }) => Some(entry.at),
        (_, Record::Retried { .. }) => returned_at(&entry.input),
        (CallState::Running { since }, _) => Some(*since),
        (_, _) => call.ran.map(|span| span.started_at),
    }
}

/// When the attempt began that has just come back.
fn returned_at(input: &Input) -> Option<Millis> {
    match input {
        Input::ToolReturned { started_at, .. } => Some(*started_at),
        _ => None,
    }
}

/// A row for every repeatable call that runs, with when it began. That such a call was let go is not
/// in the log, so its row is written by whoever sees that it takes long.
#[must_use]
pub fn running_results(now: &Conversation) -> Vec<(CallId, Millis, ToolResultRow)> {
    let Some(run) = &now.run else { return Vec::new() };
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    let running = calls.filter_map(|call| match call.state {
        CallState::Running { since } if call.facts.is_repeatable() => Some((call, since)),
        _ => None,
    });
    let row = |(call, since): (&Call, Millis)| {
        let row = ToolResultRow {
            run: run.id.clone(),
            tool_call_id: call.tool_use.id.clone(),
            call: call.id.to_string(),
            tool: call.tool_use.name.clone(),
            started_at: Some(since),
            completed_at: None,
            outcome: None,
            attempts: call.attempts.max(call.retries.granted.saturating_add(1)),
            result_seq: None,
        };
        (call.id, since, row)
    };
    running.map(row).collect()
}
