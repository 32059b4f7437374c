//! Builds the timeline of a run from its entries.

use std::collections::HashMap;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, ModelCallId, QuestionId, RunId, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::log::record::{Record, Transition};
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::reply::ModelReply;
use windlass_core::permission::PermissionDecision;
use windlass_core::run::child_runs::ChildOutcome;
use windlass_core::run::review::ReviewId;

use super::span_text::{describe_input, describe_outcome, first_line, question_name, review_name};
use super::{RunTimeline, SpanKind, SpanStatus, SpanTokens, TimelineSpan};

/// Spans that a timeline holds. Limits of runs keep almost all below it.
const MAX_SPANS: usize = 5_000;

/// What an open span is found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum SpanKey {
    ModelCall(ModelCallId),
    RetryWait,
    Call(CallId),
    Child(CallId, u16),
    Question(QuestionId),
    Review(ReviewId),
}

/// How a span begins.
struct SpanStart {
    id: String,
    kind: SpanKind,
    name: String,
    at: UnixMillis,
    detail: Option<String>,
}

/// Reads the entries of one run, in order, and gives its timeline.
pub struct TimelineBuilder {
    run: RunId,
    timeline: Option<RunTimeline>,
    open: HashMap<SpanKey, usize>,
    calls: HashMap<CallId, ToolUse>,
    attempts: HashMap<CallId, u32>,
    iteration: u32,
    /// Whether the last model call brought no reply: a retry belongs to the same iteration.
    is_retry: bool,
}

impl TimelineBuilder {
    /// Creates the builder of the timeline of `run`.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            timeline: None,
            open: HashMap::new(),
            calls: HashMap::new(),
            attempts: HashMap::new(),
            iteration: 0,
            is_retry: false,
        }
    }

    /// Reads the next entry. Entries of other runs of the conversation are passed over.
    pub fn push(&mut self, entry: &Entry) {
        for record in &entry.records {
            match record {
                Record::RunStarted { run } if *run == self.run => self.start(entry),
                Record::RunFinished { run, cause, .. } if *run == self.run => {
                    self.finish(entry, cause.as_str());
                }
                _ if self.is_active() => self.push_record(entry, record),
                _ => {}
            }
        }
    }

    /// Returns whether the run has ended: later entries change nothing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.timeline.as_ref().is_some_and(|timeline| timeline.ended_at_ms.is_some())
    }

    /// Returns the timeline; `None` if the run has not started.
    #[must_use]
    pub fn finish_reading(self) -> Option<RunTimeline> {
        let mut timeline = self.timeline?;
        timeline.spans.sort_by_key(|span| span.started_at_ms);
        Some(timeline)
    }

    fn is_active(&self) -> bool {
        self.timeline.is_some() && !self.is_complete()
    }

    fn start(&mut self, entry: &Entry) {
        self.timeline = Some(RunTimeline {
            run: self.run.to_string(),
            started_at_ms: entry.at.0,
            ended_at_ms: None,
            cause: None,
            spans: Vec::new(),
            omitted_spans: 0,
        });
    }

    fn finish(&mut self, entry: &Entry, cause: &str) {
        let keys: Vec<SpanKey> = self.open.keys().cloned().collect();
        keys.iter().for_each(|key| self.close(entry, key, SpanStatus::Interrupted, None));
        if let Some(timeline) = &mut self.timeline {
            timeline.ended_at_ms = Some(entry.at.0);
            timeline.cause = Some(cause.to_owned());
        }
    }

    fn push_record(&mut self, entry: &Entry, record: &Record) {
        match record {
            Record::ModelCallStarted { model_call, transition, .. } => {
                self.start_model_call(entry, *model_call, *transition);
            }
            Record::EarlyCallDecided { call, .. } => self.learn_early_call(entry, *call),
            Record::ModelReplied { model_call, .. } => self.end_model_call(entry, *model_call),
            Record::ModelCallAbandoned { model_call, .. } => self.abandon(entry, *model_call),
            Record::ModelRetryScheduled { failures, .. } => self.wait_for_retry(entry, *failures),
            Record::PermissionDecided {
                call,
                verdict: PermissionDecision::Deny { reason, .. },
            } => {
                self.deny(entry, *call, reason);
            }
            Record::CallStarted { call } => self.start_call(entry, *call, entry.at),
            Record::CallReturned { call }
            | Record::CallRetryScheduled { call, .. }
            | Record::AccessRequested { call, .. } => {
                self.end_call(entry, *call);
            }
            Record::CallLost { call } => {
                self.close(entry, &SpanKey::Call(*call), SpanStatus::Unknown, None);
            }
            Record::ChildrenSpawned { call, from, to, .. } => {
                (*from..*to).for_each(|part| self.start_child(entry, *call, part));
            }
            Record::ChildResultReceived { message } => self.end_child(entry, *message),
            Record::QuestionAsked { question } => {
                let name = question_name(&question.kind);
                let id = format!("question {}", question.id);
                self.open_span(entry, SpanKey::Question(question.id), SpanKind::Question, id, name);
            }
            Record::QuestionAnswered { message } => self.end_question(entry, *message),
            Record::ReviewRequested { id, review } => {
                let (text, name) = (format!("review {id}"), review_name(review));
                self.open_span(entry, SpanKey::Review(*id), SpanKind::Review, text, name);
            }
            Record::ReviewCompleted { id, .. } => {
                self.close(entry, &SpanKey::Review(*id), SpanStatus::Ok, None);
            }
            Record::Pruned { stage, .. } => {
                self.add_moment(entry, SpanKind::Compaction, stage.name());
            }
            Record::Compacted { .. } => self.add_moment(entry, SpanKind::Compaction, "summary"),
            Record::OwnerChanged { .. } => self.add_moment(entry, SpanKind::Takeover, "takeover"),
            _ => {}
        }
    }

    fn start_model_call(&mut self, entry: &Entry, call: ModelCallId, transition: Transition) {
        self.close(entry, &SpanKey::RetryWait, SpanStatus::Ok, None);
        if !std::mem::take(&mut self.is_retry) {
            self.iteration = self.iteration.saturating_add(1);
        }
        let (id, name) = (format!("model_call {call}"), transition.name());
        self.open_span(entry, SpanKey::ModelCall(call), SpanKind::ModelCall, id, name);
    }

    fn end_model_call(&mut self, entry: &Entry, call: ModelCallId) {
        let Input::ModelReplied { reply, .. } = &entry.input else { return };
        self.learn_calls(call, reply);
        let index = self.open.get(&SpanKey::ModelCall(call)).copied();
        let reason = Some(reply.stop_reason.as_str().to_owned());
        self.close(entry, &SpanKey::ModelCall(call), SpanStatus::Ok, reason);
        let usage = reply.usage;
        if let Some(span) = index.and_then(|index| self.span_mut(index)) {
            span.tokens = Some(SpanTokens {
                input: usage.input_tokens,
                output: usage.output_tokens,
                cache_read: usage.cache_read_tokens,
                cache_write: usage.cache_write_tokens,
            });
        }
    }

    fn learn_calls(&mut self, model_call: ModelCallId, reply: &ModelReply) {
        for (index, block) in reply.indexed_blocks() {
            if let Some(tool_use) = block.as_tool_use() {
                self.calls.insert(CallId { model_call, index }, tool_use.clone());
            }
        }
    }

    fn learn_early_call(&mut self, entry: &Entry, call: CallId) {
        if let Input::BlockReady { tool_use, .. } = &entry.input {
            self.calls.insert(call, tool_use.clone());
        }
    }

    fn abandon(&mut self, entry: &Entry, call: ModelCallId) {
        self.is_retry = true;
        let (status, detail) = match &entry.input {
            Input::ModelFailed { failure, .. } => {
                (SpanStatus::Failed, first_line(&failure.message))
            }
            _ => (SpanStatus::Interrupted, None),
        };
        self.close(entry, &SpanKey::ModelCall(call), status, detail);
    }

    /// A model call that failed waits; the failure ends its span if nothing did before.
    fn wait_for_retry(&mut self, entry: &Entry, failures: u32) {
        if let Input::ModelFailed { model_call, .. } = &entry.input {
            self.abandon(entry, *model_call);
        }
        let id = format!("retry {} {failures}", entry.seq);
        self.open_span(entry, SpanKey::RetryWait, SpanKind::RetryWait, id, "backoff");
    }

    fn deny(&mut self, entry: &Entry, call: CallId, reason: &str) {
        self.start_call(entry, call, entry.at);
        self.close(entry, &SpanKey::Call(call), SpanStatus::Denied, first_line(reason));
    }

    fn start_call(&mut self, entry: &Entry, call: CallId, at: UnixMillis) {
        // An attempt that asked the user is given up where the call starts again with the answer.
        self.close(entry, &SpanKey::Call(call), SpanStatus::Interrupted, None);
        let attempt = self.attempts.entry(call).or_default();
        *attempt = attempt.saturating_add(1);
        let tool_use = self.calls.get(&call);
        let start = SpanStart {
            id: format!("tool_call {call} {attempt}"),
            kind: SpanKind::ToolCall,
            name: tool_use.map(|tool_use| tool_use.name.to_string()).unwrap_or_default(),
            at,
            detail: tool_use.and_then(describe_input),
        };
        self.add_span(entry, Some(SpanKey::Call(call)), start);
    }

    /// Ends a call. The start of one that may be repeated is not in the log, so its outcome says it.
    fn end_call(&mut self, entry: &Entry, call: CallId) {
        let Input::ToolReturned { started_at, outcome, .. } = &entry.input else { return };
        if !self.open.contains_key(&SpanKey::Call(call)) {
            self.start_call(entry, call, *started_at);
        }
        let (status, detail) = describe_outcome(outcome);
        self.close(entry, &SpanKey::Call(call), status, detail);
    }

    fn start_child(&mut self, entry: &Entry, call: CallId, part: u16) {
        let id = format!("child {call} {part}");
        let name = self.calls.get(&call).map(|tool_use| tool_use.name.to_string());
        let key = SpanKey::Child(call, part);
        self.open_span(entry, key, SpanKind::ChildRun, id, &name.unwrap_or_default());
    }

    fn end_child(&mut self, entry: &Entry, message: u64) {
        let Input::CommandsReceived { messages } = &entry.input else { return };
        let found = messages.iter().find(|candidate| candidate.id == message);
        let Some(InboxCommand::ChildFinished { result: Some(result), text, .. }) =
            found.map(|found| &found.body)
        else {
            return;
        };
        let key = SpanKey::Child(result.call, result.part);
        let status = match result.ending {
            ChildOutcome::Answered => SpanStatus::Ok,
            ChildOutcome::Failed => SpanStatus::Failed,
        };
        self.close(entry, &key, status, first_line(text));
    }

    fn end_question(&mut self, entry: &Entry, message: u64) {
        let Input::CommandsReceived { messages } = &entry.input else { return };
        let found = messages.iter().find(|candidate| candidate.id == message);
        if let Some(InboxCommand::Answer { question, .. }) = found.map(|found| &found.body) {
            self.close(entry, &SpanKey::Question(*question), SpanStatus::Ok, None);
        }
    }

    fn add_moment(&mut self, entry: &Entry, kind: SpanKind, name: &str) {
        let id = format!("{name} {}", entry.seq);
        let start = SpanStart { id, kind, name: name.to_owned(), at: entry.at, detail: None };
        if let Some(index) = self.add_span(entry, None, start) {
            self.end_span(entry, index, SpanStatus::Ok, None);
        }
    }

    fn open_span(&mut self, entry: &Entry, key: SpanKey, kind: SpanKind, id: String, name: &str) {
        let start = SpanStart { id, kind, name: name.to_owned(), at: entry.at, detail: None };
        self.add_span(entry, Some(key), start);
    }

    fn add_span(&mut self, entry: &Entry, key: Option<SpanKey>, start: SpanStart) -> Option<usize> {
        let timeline = self.timeline.as_mut()?;
        let index = timeline.spans.len();
        if index >= MAX_SPANS {
            timeline.omitted_spans = timeline.omitted_spans.saturating_add(1);
            return None;
        }
        timeline.spans.push(TimelineSpan {
            id: start.id,
            kind: start.kind,
            name: start.name,
            iteration: self.iteration,
            started_at_ms: start.at.0,
            ended_at_ms: None,
            status: SpanStatus::Open,
            detail: start.detail,
            first_entry: entry.seq,
            last_entry: None,
            tokens: None,
        });
        if let Some(key) = key {
            self.open.insert(key, index);
        }
        Some(index)
    }

    /// Ends an open span; one that is not open is none of this run, or was left out.
    fn close(&mut self, entry: &Entry, key: &SpanKey, status: SpanStatus, detail: Option<String>) {
        if let Some(index) = self.open.remove(key) {
            self.end_span(entry, index, status, detail);
        }
    }

    fn end_span(
        &mut self,
        entry: &Entry,
        index: usize,
        status: SpanStatus,
        detail: Option<String>,
    ) {
        if let Some(span) = self.span_mut(index) {
            span.ended_at_ms = Some(entry.at.0.max(span.started_at_ms));
            span.last_entry = Some(entry.seq);
            span.status = status;
            span.detail = detail.or(span.detail.take());
        }
    }

    fn span_mut(&mut self, index: usize) -> Option<&mut TimelineSpan> {
        self.timeline.as_mut()?.spans.get_mut(index)
    }
}
