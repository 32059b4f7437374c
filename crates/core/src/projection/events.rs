//! Events: what dashboards and `windlass logs` read afterwards, and what is traced as it happens.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use serde::Serialize;

use super::EventRow;
use super::limit_messages::limit_reached;
use super::rows::agent_and_profile;
use crate::budget::spending::SpendingCaps;
use crate::call::outcome::ToolOutcome;
use crate::context::RecoveryStep;
use crate::guard::loop_detection::{EscalationLevel, LoopDetectorTier};
use crate::log::entry::Entry;
use crate::log::ids::{CallId, RunId};
use crate::log::input::Input;
use crate::log::record::{Record, RejectionSource, TimeLimit, Truncation};
use crate::message::raw_json::RawJson;
use crate::permission::PermissionDecision;
use crate::run::active_run::Run;
use crate::run::conversation::Conversation;
use crate::run::question::QuestionKind;
use crate::run::review::{Review, ReviewResult};
use crate::run::wanted::is_waiting_on_provider;
use crate::stop::{ReplyAnomaly, RunState, StopCause};

#[derive(Serialize)]
struct ToolRetryFields<'a> {
    call: String,
    tool: &'a str,
    attempt: u32,
    until: u64,
}

/// A call that was denied, and what denied it.
#[derive(Serialize)]
struct ToolDeniedFields<'a> {
    call: String,
    tool: &'a str,
    reason: &'a str,
}

/// How many of the recoveries of truncated replies are used.
#[derive(Serialize)]
struct ReplyTruncatedFields {
    used: u32,
    of: u32,
}

/// A stage of compaction that failed.
#[derive(Serialize)]
struct CompactionFailedFields<'a> {
    stage: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct ChildrenSpawnedFields<'a> {
    call: String,
    from: u16,
    to: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd_micros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    agent: &'a str,
}

#[derive(Serialize)]
struct RuleGrantedFields<'a> {
    rule: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    folder: &'a str,
}

#[derive(Serialize)]
struct ModelWarningFields {
    notices: Vec<String>,
}

#[derive(Serialize)]
struct ModelRetryFields {
    failures: u32,
    until: u64,
}

#[derive(Serialize)]
struct RunEndFields<'a> {
    cause: &'a str,
    /// Whether the next prompt can continue where this run stopped.
    resumable: bool,
    also: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspect: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct ReasonFields<'a> {
    why: &'a str,
}

#[derive(Serialize)]
struct ModelFallbackFields<'a> {
    why: &'a str,
    /// The model that is called from here on.
    model: &'a str,
}

#[derive(Serialize)]
struct ToolFailedFields<'a> {
    call: String,
    tool: &'a str,
    code: &'a str,
    message: &'a str,
    detail: &'a str,
}

/// Tokens and messages before and after the compaction.
#[derive(Serialize)]
struct CompactionFields<'a> {
    stage: &'a str,
    tokens_before: u64,
    tokens_after: u64,
    messages_before: usize,
    messages_after: usize,
}

#[derive(Serialize)]
struct LoopDetectedFields<'a> {
    tier: LoopDetectorTier,
    tool: &'a str,
    level: EscalationLevel,
    /// Whether the escalation level rose.
    escalated: bool,
}

#[derive(Serialize)]
struct GuardrailFields<'a> {
    guardrail: RejectionSource,
    level: EscalationLevel,
    times: u32,
    reason: &'a str,
}

#[derive(Serialize)]
struct AnomalyFields<'a> {
    anomaly: ReplyAnomaly,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
}

#[derive(Serialize)]
struct BudgetWarningFields {
    percent: u64,
}

#[derive(Serialize)]
struct NoFields {}

/// Returns the other name of an event.
#[must_use]
pub fn event_alias(name: &str) -> Option<&'static str> {
    (name == "agent.exhaustion.soft_limit").then_some("agent.exhaustion.celery_soft")
}

/// Returns whether the event of a record needs the state before it.
pub(super) fn needs_state_before(record: &Record) -> bool {
    matches!(
        record,
        Record::Compacted { .. }
            | Record::RecoveryStepUsed { .. }
            | Record::Pruned { .. }
            | Record::ReviewCompleted { .. }
            | Record::LoopDetectionUpdated { .. }
            | Record::RunFinished { .. }
    )
}

/// Returns the event of a record: `before` is the state without it, if it is needed; `now` has it
/// applied.
pub(super) fn event_of_record(
    before: Option<&Conversation>,
    now: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<EventRow> {
    let named = model_event(now, record)
        .or_else(|| call_event(now, record))
        .or_else(|| tool_failure_event(now, &entry.input, record))
        .or_else(|| compaction_event(before?, now, record))
        .or_else(|| review_event(before?, &entry.input, record))
        .or_else(|| loop_event(before?, record))
        .or_else(|| guardrail_event(now, record))
        .or_else(|| run_event(before, now, record));
    let (name, fields) = named?;
    let run = match record {
        Record::RunFinished { run, .. } => Some(run.clone()),
        _ => now.run.as_ref().map(|run| run.id.clone()),
    };
    Some(EventRow::new(now, entry, run, (name, fields)))
}

/// Returns the event for what the model's adapter had to do differently than requested.
pub(super) fn model_warning_event(
    now: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<EventRow> {
    let (Record::ModelReplied { .. }, Input::ModelReplied { reply, .. }) = (record, &entry.input)
    else {
        return None;
    };
    let notices = Some(reply.notices()).filter(|notices| !notices.is_empty())?;
    let run = now.run.as_ref().map(|run| run.id.clone());
    let named = ("agent.model.warning", RawJson::encode(&ModelWarningFields { notices }));
    Some(EventRow::new(now, entry, run, named))
}

impl EventRow {
    /// Creates an event of this conversation, at this entry.
    pub(super) fn new(
        now: &Conversation,
        entry: &Entry,
        run: Option<RunId>,
        (name, fields): NamedEvent,
    ) -> Self {
        let (agent, profile) = agent_and_profile(now);
        Self { run, agent, profile, seq: entry.seq, at: entry.at, name, fields }
    }
}

pub(super) type NamedEvent = (&'static str, RawJson);

fn model_event(now: &Conversation, record: &Record) -> Option<NamedEvent> {
    match record {
        Record::ModelReplied { truncation: Truncation::Truncated, .. } => {
            let used = now.run.as_ref().map_or(0, |run| run.counters.truncations);
            let of = now.settings.as_ref().map_or(0, |settings| settings.limits.truncations);
            Some(("agent.reply.truncated", RawJson::encode(&ReplyTruncatedFields { used, of })))
        }
        Record::ModelRetryScheduled { until, failures } => {
            let name = if is_waiting_on_provider(now) {
                "agent_run.waiting_on_provider"
            } else {
                "agent.model.retry"
            };
            Some((name, RawJson::encode(&ModelRetryFields { failures: *failures, until: until.0 })))
        }
        Record::ModelCallAbandoned { cause, .. } => {
            let reason = cause.as_str();
            Some(("agent.model.abandoned", RawJson::encode(&ReasonFields { why: reason })))
        }
        Record::FallbackModelSelected { why } => {
            let model = now.active_model().map_or("", |model| &*model.name);
            Some(("agent.model.fell_back", RawJson::encode(&ModelFallbackFields { why, model })))
        }
        Record::AnomalyDetected { what } => {
            Some(("agent.reply.anomaly", anomaly_fields(now, *what)))
        }
        _ => None,
    }
}

/// Returns the fields of a reply anomaly, with the value of the provider.
fn anomaly_fields(now: &Conversation, what: ReplyAnomaly) -> RawJson {
    let reply = now.last_reply.as_ref().map(|last| &last.reply);
    let value = reply.and_then(|reply| what.provider_value(reply));
    RawJson::encode(&AnomalyFields { anomaly: what, value })
}

fn call_event(now: &Conversation, record: &Record) -> Option<NamedEvent> {
    let find = |id: &CallId| now.run.as_ref().and_then(Run::round)?.call(*id);
    match record {
        Record::CallRetryScheduled { call: id, until } => {
            let call = find(id)?;
            let (tool, attempt) = (&*call.tool_use.name, call.attempts);
            let fields = ToolRetryFields { call: id.to_string(), tool, attempt, until: until.0 };
            Some(("agent.tool.retry", RawJson::encode(&fields)))
        }
        Record::PermissionDecided {
            call: id,
            verdict: PermissionDecision::Deny { reason, .. },
        } => {
            let tool = &*find(id)?.tool_use.name;
            let fields = ToolDeniedFields { call: id.to_string(), tool, reason };
            Some(("agent.tool.denied", RawJson::encode(&fields)))
        }
        Record::ChildrenSpawned { call: id, from, to, granted } => {
            let agent = find(id)?.facts.children.first().map_or("", |task| &*task.agent);
            let SpendingCaps { tokens, usd_micros } = *granted;
            let (from, to) = (*from, *to);
            let fields =
                ChildrenSpawnedFields { call: id.to_string(), from, to, usd_micros, tokens, agent };
            Some(("agent.children.spawned", RawJson::encode(&fields)))
        }
        Record::RuleGranted { rule, folder } => {
            let fields = RuleGrantedFields { rule: rule.text(), folder };
            Some(("agent.permission.granted", RawJson::encode(&fields)))
        }
        _ => None,
    }
}

/// Returns the event of a failed call, if its error has more detail than the model sees.
fn tool_failure_event(now: &Conversation, input: &Input, record: &Record) -> Option<NamedEvent> {
    let Record::CallReturned { call: id } = record else { return None };
    let Input::ToolReturned { outcome: ToolOutcome::Failed(error), .. } = input else {
        return None;
    };
    let detail = error.detail.as_deref()?;
    let call = now.run.as_ref().and_then(Run::round)?.call(*id)?;
    let (tool, code, message) = (&*call.tool_use.name, &*error.code, &*error.message);
    let fields = ToolFailedFields { call: id.to_string(), tool, code, message, detail };
    Some(("agent.tool.failed", RawJson::encode(&fields)))
}

/// Returns the event of a compaction review that failed or blocked the compaction.
fn review_event(before: &Conversation, input: &Input, record: &Record) -> Option<NamedEvent> {
    let Record::ReviewCompleted { .. } = record else { return None };
    let review = &before.run.as_ref().and_then(Run::pending_review)?.review;
    let why = match input {
        Input::ReviewReturned { result: ReviewResult::Failed { why, .. }, .. } => why,
        Input::ReviewReturned { result: ReviewResult::Block { reason }, .. } => reason,
        _ => return None,
    };
    let (name, stage) = match review {
        Review::Summary { .. } => ("agent.compaction.failed", "auto"),
        Review::Compaction { .. } | Review::Pruning { .. } => ("agent.compaction.failed", "hook"),
        Review::Judge { .. } => ("agent.hook.failed", "judge"),
        Review::Prompt {} => ("agent.hook.failed", "prompt"),
        Review::Answer { .. } => ("agent.hook.failed", "answer"),
    };
    let spoke = matches!(input, Input::ReviewReturned { result: ReviewResult::Block { .. }, .. });
    let is_hook = name == "agent.hook.failed";
    (!(spoke && is_hook)).then(|| (name, RawJson::encode(&CompactionFailedFields { stage, why })))
}

fn compaction_event(
    before: &Conversation,
    now: &Conversation,
    record: &Record,
) -> Option<NamedEvent> {
    let (name, stage) = match record {
        Record::Compacted { step: Some(RecoveryStep::DeepPrune), .. } => {
            ("agent.recovery.fired", "R2")
        }
        Record::Compacted { .. } => ("agent.compaction.run", "R1"),
        Record::RecoveryStepUsed { step: RecoveryStep::AskHuman } => ("agent.recovery.fired", "R3"),
        Record::Pruned { stage, .. } => ("agent.compaction.run", stage.name()),
        _ => return None,
    };
    let tokens = |c: &Conversation| c.current_meter().estimate(c.request_bytes());
    let fields = CompactionFields {
        stage,
        tokens_before: tokens(before),
        tokens_after: tokens(now),
        messages_before: before.transcript.segments().len(),
        messages_after: now.transcript.segments().len(),
    };
    Some((name, RawJson::encode(&fields)))
}

/// Returns the event of a detected loop: the escalation level, and whether it rose.
fn loop_event(before: &Conversation, record: &Record) -> Option<NamedEvent> {
    let Record::LoopDetectionUpdated { level, finding: Some(found) } = record else { return None };
    let earlier = before.run.as_ref().map(|run| run.loop_guard.level()).unwrap_or_default();
    let (level, escalated) = (*level, *level > earlier || *level == EscalationLevel::Human);
    let fields = LoopDetectedFields { tier: found.tier, tool: &found.tool, level, escalated };
    Some(("agent.loop.detected", RawJson::encode(&fields)))
}

fn guardrail_event(now: &Conversation, record: &Record) -> Option<NamedEvent> {
    let counters = now.run.as_ref().map(|run| &run.counters);
    match record {
        Record::AnswerRejected { by, reason, level } => {
            let times = counters.map_or(0, |used| match by {
                RejectionSource::Schema => used.output_retries,
                RejectionSource::Drift => used.reprompts,
                RejectionSource::Checklist | RejectionSource::Hook | RejectionSource::Judge => {
                    used.rejections
                }
            });
            let fields = GuardrailFields { guardrail: *by, level: *level, times, reason };
            Some(("agent.guardrail.escalated", RawJson::encode(&fields)))
        }
        Record::TimeLimitReached { limit: TimeLimit::Soft } => {
            Some(("agent.exhaustion.soft_limit", RawJson::encode(&NoFields {})))
        }
        Record::TimeLimitReached { limit: TimeLimit::Hard } => {
            Some(("agent.exhaustion.hard_limit", RawJson::encode(&NoFields {})))
        }
        Record::BudgetWarned { percent } => Some((
            "agent.budget.warning",
            RawJson::encode(&BudgetWarningFields { percent: *percent }),
        )),
        Record::BudgetExtended {} => Some(("agent.budget.extended", RawJson::encode(&NoFields {}))),
        _ => None,
    }
}

fn run_event(
    before: Option<&Conversation>,
    now: &Conversation,
    record: &Record,
) -> Option<NamedEvent> {
    match record {
        Record::RunStarted { .. } => Some(("agent_run.started", RawJson::encode(&NoFields {}))),
        Record::OwnerChanged { .. } => Some(("agent_run.resumed", RawJson::encode(&NoFields {}))),
        Record::CommandRejected { reason, .. } => {
            let why = reason.as_str();
            Some(("agent.command.rejected", RawJson::encode(&ReasonFields { why })))
        }
        Record::QuestionAsked { question } => Some(question_event(&question.kind)),
        Record::RunFinished { cause, other_causes, .. } => {
            let also = other_causes.iter().map(|cause| cause.as_str()).collect();
            let suspect = now.last_run_end.as_ref().and_then(|end| end.suspect_reason.as_deref());
            let error = error_text(before, now, record);
            let resumable = cause.is_resumable();
            let fields = RawJson::encode(&RunEndFields {
                cause: cause.as_str(),
                resumable,
                also,
                suspect,
                error,
            });
            Some((run_end_event_name(now), fields))
        }
        _ => None,
    }
}

/// Returns the full error for operators: an error and its causes, or the limit that ended the run
/// with what was used of it. The model never sees it.
fn error_text(
    before: Option<&Conversation>,
    now: &Conversation,
    record: &Record,
) -> Option<String> {
    let Record::RunFinished { cause, text_override, .. } = record else { return None };
    if run_end_event_name(now) != "agent_run.failed" {
        return None;
    }
    let last = before.and_then(|before| before.run.as_ref()?.last_error.clone());
    let text =
        text_override.as_deref().filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned);
    let told = match cause {
        StopCause::ProviderFailed
        | StopCause::ToolFatal
        | StopCause::TruncationExhausted
        | StopCause::StructuredOutputRetries
        | StopCause::Unexpected
        | StopCause::HookStopped => last.map(|last| last.to_string()).or(text),
        _ => text,
    };
    told.or_else(|| {
        Some(limit_reached(before?, *cause).unwrap_or_else(|| cause.as_str().to_owned()))
    })
}

fn question_event(kind: &QuestionKind) -> NamedEvent {
    match kind {
        QuestionKind::Uncertain { .. } | QuestionKind::PromptChanged { .. } => {
            ("agent_run.resume_unsafe", RawJson::encode(kind))
        }
        QuestionKind::Approval { .. }
        | QuestionKind::ModelQuestion { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Plan { .. }
        | QuestionKind::Guidance { .. }
        | QuestionKind::Budget { .. } => ("agent_run.asked_human", RawJson::encode(kind)),
    }
}

fn run_end_event_name(now: &Conversation) -> &'static str {
    let state = now.last_run_end.as_ref().map(|ended| ended.cause.run_state(ended.text_presence()));
    match state {
        Some(RunState::Completed) => "agent_run.completed",
        Some(RunState::Cancelled) => "agent_run.cancelled",
        _ => "agent_run.failed",
    }
}
