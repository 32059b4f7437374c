//! Events: what dashboards and `windlass logs` read afterwards, and what is traced as it happens.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use serde::Serialize;

use super::EventRow;
use super::limit::limit_reached;
use super::rows::driven_by;
use crate::budget::Caps;
use crate::conversation::Conversation;
use crate::counsel::{Advice, Counsel};
use crate::ids::{CallId, RunId};
use crate::input::Input;
use crate::log::Entry;
use crate::outcome::Outcome;
use crate::permission::Verdict;
use crate::question::About;
use crate::raw::Raw;
use crate::record::{Record, Rejection, TimeLimit, Truncation};
use crate::run::Run;
use crate::stop::{Anomaly, RunState, StopCause};
use crate::thrash::{Level, Tier};
use crate::wanted::waits_on_provider;
use crate::window::Rung;

#[derive(Serialize)]
struct Retry<'a> {
    call: String,
    tool: &'a str,
    attempt: u32,
    until: u64,
}

/// A call that was not let run, and what said so.
#[derive(Serialize)]
struct Denied<'a> {
    call: String,
    tool: &'a str,
    reason: &'a str,
}

/// How many of the recoveries of cut replies are used.
#[derive(Serialize)]
struct Truncated {
    used: u32,
    of: u32,
}

/// A stage of compaction that came to nothing.
#[derive(Serialize)]
struct Failed<'a> {
    stage: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct Children<'a> {
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
struct Granted<'a> {
    rule: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    folder: &'a str,
}

#[derive(Serialize)]
struct Warning {
    notices: Vec<String>,
}

#[derive(Serialize)]
struct ModelRetry {
    failures: u32,
    until: u64,
}

#[derive(Serialize)]
struct End<'a> {
    cause: &'a str,
    /// Whether the next prompt can go on where this run stopped.
    resumable: bool,
    also: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspect: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Why<'a> {
    why: &'a str,
}

#[derive(Serialize)]
struct FellBack<'a> {
    why: &'a str,
    /// The model that is asked from here on.
    model: &'a str,
}

#[derive(Serialize)]
struct CallFailed<'a> {
    call: String,
    tool: &'a str,
    code: &'a str,
    message: &'a str,
    detail: &'a str,
}

/// Tokens and messages before and after room was made.
#[derive(Serialize)]
struct Room<'a> {
    stage: &'a str,
    tokens_before: u64,
    tokens_after: u64,
    messages_before: usize,
    messages_after: usize,
}

#[derive(Serialize)]
struct LoopDetected<'a> {
    tier: Tier,
    tool: &'a str,
    level: Level,
    /// Whether the level rose with it.
    escalated: bool,
}

#[derive(Serialize)]
struct Guardrail<'a> {
    guardrail: Rejection,
    level: Level,
    times: u32,
    reason: &'a str,
}

#[derive(Serialize)]
struct Odd<'a> {
    anomaly: Anomaly,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
}

#[derive(Serialize)]
struct Share {
    percent: u64,
}

#[derive(Serialize)]
struct Nothing {}

/// Other names an event is known by.
#[must_use]
pub fn alias(name: &str) -> Option<&'static str> {
    (name == "agent.exhaustion.soft_limit").then_some("agent.exhaustion.celery_soft")
}

/// Whether the event of a record tells what was so before it.
pub(super) fn looks_back(record: &Record) -> bool {
    matches!(
        record,
        Record::Compacted { .. }
            | Record::Climbed { .. }
            | Record::Pruned { .. }
            | Record::CounselHeard { .. }
            | Record::Watched { .. }
            | Record::Finished { .. }
    )
}

/// The event a record stands for: `before` is without it, if it looks back; `now` has it applied.
pub(super) fn event(
    before: Option<&Conversation>,
    now: &Conversation,
    entry: &Entry,
    record: &Record,
) -> Option<EventRow> {
    let named = of_model(now, record)
        .or_else(|| of_calls(now, record))
        .or_else(|| of_failure(now, &entry.input, record))
        .or_else(|| of_room(before?, now, record))
        .or_else(|| of_counsel(before?, &entry.input, record))
        .or_else(|| of_loop(before?, record))
        .or_else(|| of_guards(now, record))
        .or_else(|| of_run(before, now, record));
    let (name, fields) = named?;
    let run = match record {
        Record::Finished { run, .. } => Some(run.clone()),
        _ => now.run.as_ref().map(|run| run.id.clone()),
    };
    Some(EventRow::of(now, entry, run, (name, fields)))
}

/// What the model's adapter had to do differently from what it was asked.
pub(super) fn warning(now: &Conversation, entry: &Entry, record: &Record) -> Option<EventRow> {
    let (Record::Replied { .. }, Input::Replied { reply, .. }) = (record, &entry.input) else {
        return None;
    };
    let notices = Some(reply.notices()).filter(|notices| !notices.is_empty())?;
    let run = now.run.as_ref().map(|run| run.id.clone());
    let named = ("agent.model.warning", Raw::encode(&Warning { notices }));
    Some(EventRow::of(now, entry, run, named))
}

impl EventRow {
    /// An event of this conversation, at this entry.
    pub(super) fn of(
        now: &Conversation,
        entry: &Entry,
        run: Option<RunId>,
        (name, fields): Named,
    ) -> Self {
        let (agent, profile) = driven_by(now);
        Self { run, agent, profile, seq: entry.seq, at: entry.at, name, fields }
    }
}

pub(super) type Named = (&'static str, Raw);

fn of_model(now: &Conversation, record: &Record) -> Option<Named> {
    match record {
        Record::Replied { truncation: Truncation::Cut, .. } => {
            let used = now.run.as_ref().map_or(0, |run| run.counters.truncations);
            let of = now.settings.as_ref().map_or(0, |settings| settings.limits.truncations);
            Some(("agent.reply.truncated", Raw::encode(&Truncated { used, of })))
        }
        Record::Deferred { until, failures } => {
            let name = if waits_on_provider(now) {
                "agent_run.waiting_on_provider"
            } else {
                "agent.model.retry"
            };
            Some((name, Raw::encode(&ModelRetry { failures: *failures, until: until.0 })))
        }
        Record::AttemptAbandoned { why, .. } => {
            Some(("agent.model.abandoned", Raw::encode(&Why { why })))
        }
        Record::FellBack { why } => {
            let model = now.model_in_use().map_or("", |model| &*model.name);
            Some(("agent.model.fell_back", Raw::encode(&FellBack { why, model })))
        }
        Record::Anomaly { what } => Some(("agent.reply.anomaly", anomaly(now, *what))),
        _ => None,
    }
}

/// What was odd about a reply, and the word of the provider that was.
fn anomaly(now: &Conversation, what: Anomaly) -> Raw {
    let reply = now.last_reply.as_ref().map(|last| &last.reply);
    let value = reply.and_then(|reply| what.value(reply));
    Raw::encode(&Odd { anomaly: what, value })
}

fn of_calls(now: &Conversation, record: &Record) -> Option<Named> {
    let find = |id: &CallId| now.run.as_ref().and_then(Run::round)?.call(*id);
    match record {
        Record::Retried { call: id, until } => {
            let call = find(id)?;
            let (tool, attempt) = (&*call.tool_use.name, call.attempts);
            let fields = Retry { call: id.to_string(), tool, attempt, until: until.0 };
            Some(("agent.tool.retry", Raw::encode(&fields)))
        }
        Record::Judged { call: id, verdict: Verdict::Deny { reason } } => {
            let tool = &*find(id)?.tool_use.name;
            let fields = Denied { call: id.to_string(), tool, reason };
            Some(("agent.tool.denied", Raw::encode(&fields)))
        }
        Record::Spawned { call: id, from, to, granted } => {
            let agent = find(id)?.facts.children.first().map_or("", |task| &*task.agent);
            let Caps { tokens, usd_micros } = *granted;
            let (from, to) = (*from, *to);
            let fields = Children { call: id.to_string(), from, to, usd_micros, tokens, agent };
            Some(("agent.children.spawned", Raw::encode(&fields)))
        }
        Record::Granted { rule, folder } => {
            let fields = Granted { rule: rule.text(), folder };
            Some(("agent.permission.granted", Raw::encode(&fields)))
        }
        _ => None,
    }
}

/// A call failed, and there is more to say of it than the model is told.
fn of_failure(now: &Conversation, input: &Input, record: &Record) -> Option<Named> {
    let Record::Completed { call: id } = record else { return None };
    let Input::ToolReturned { outcome: Outcome::Failed(error), .. } = input else { return None };
    let detail = error.detail.as_deref()?;
    let call = now.run.as_ref().and_then(Run::round)?.call(*id)?;
    let (tool, code, message) = (&*call.tool_use.name, &*error.code, &*error.message);
    let fields = CallFailed { call: id.to_string(), tool, code, message, detail };
    Some(("agent.tool.failed", Raw::encode(&fields)))
}

/// Somebody who was to help with a compaction did not, or spoke against it.
fn of_counsel(before: &Conversation, input: &Input, record: &Record) -> Option<Named> {
    let Record::CounselHeard { .. } = record else { return None };
    let about = &before.run.as_ref().and_then(Run::consulting)?.about;
    let why = match input {
        Input::Counselled { advice: Advice::Failed { why, .. }, .. } => why,
        Input::Counselled { advice: Advice::Block { reason }, .. } => reason,
        _ => return None,
    };
    let (name, stage) = match about {
        Counsel::Summary { .. } => ("agent.compaction.failed", "auto"),
        Counsel::Compaction { .. } | Counsel::Pruning { .. } => ("agent.compaction.failed", "hook"),
        Counsel::Ruling { .. } => ("agent.hook.failed", "judge"),
        Counsel::Prompt {} => ("agent.hook.failed", "prompt"),
        Counsel::Answer { .. } => ("agent.hook.failed", "answer"),
    };
    let spoke = matches!(input, Input::Counselled { advice: Advice::Block { .. }, .. });
    let is_hook = name == "agent.hook.failed";
    (!(spoke && is_hook)).then(|| (name, Raw::encode(&Failed { stage, why })))
}

fn of_room(before: &Conversation, now: &Conversation, record: &Record) -> Option<Named> {
    let (name, stage) = match record {
        Record::Compacted { rung: Some(Rung::DeepPrune), .. } => ("agent.recovery.fired", "R2"),
        Record::Compacted { .. } => ("agent.compaction.run", "R1"),
        Record::Climbed { rung: Rung::AskHuman } => ("agent.recovery.fired", "R3"),
        Record::Pruned { stage, .. } => ("agent.compaction.run", stage.name()),
        _ => return None,
    };
    let tokens = |c: &Conversation| c.meter_in_use().estimate(c.request_bytes());
    let fields = Room {
        stage,
        tokens_before: tokens(before),
        tokens_after: tokens(now),
        messages_before: before.transcript.segments().len(),
        messages_after: now.transcript.segments().len(),
    };
    Some((name, Raw::encode(&fields)))
}

/// A loop was detected: how far that has led, and whether it led further than before.
fn of_loop(before: &Conversation, record: &Record) -> Option<Named> {
    let Record::Watched { level, found: Some(found) } = record else { return None };
    let earlier = before.run.as_ref().map(|run| run.guard.level()).unwrap_or_default();
    let (level, escalated) = (*level, *level > earlier || *level == Level::Human);
    let fields = LoopDetected { tier: found.tier, tool: &found.tool, level, escalated };
    Some(("agent.loop.detected", Raw::encode(&fields)))
}

fn of_guards(now: &Conversation, record: &Record) -> Option<Named> {
    let counters = now.run.as_ref().map(|run| &run.counters);
    match record {
        Record::Rejected { by, reason, level } => {
            let times = counters.map_or(0, |used| match by {
                Rejection::Schema => used.output_retries,
                Rejection::Drift => used.reprompts,
                Rejection::Checklist | Rejection::Hook | Rejection::Judge => used.rejections,
            });
            let fields = Guardrail { guardrail: *by, level: *level, times, reason };
            Some(("agent.guardrail.escalated", Raw::encode(&fields)))
        }
        Record::TimeUp { limit: TimeLimit::Soft } => {
            Some(("agent.exhaustion.soft_limit", Raw::encode(&Nothing {})))
        }
        Record::TimeUp { limit: TimeLimit::Hard } => {
            Some(("agent.exhaustion.hard_limit", Raw::encode(&Nothing {})))
        }
        Record::BudgetWarned { percent } => {
            Some(("agent.budget.warning", Raw::encode(&Share { percent: *percent })))
        }
        Record::BudgetExtended {} => Some(("agent.budget.extended", Raw::encode(&Nothing {}))),
        _ => None,
    }
}

fn of_run(before: Option<&Conversation>, now: &Conversation, record: &Record) -> Option<Named> {
    match record {
        Record::RunStarted { .. } => Some(("agent_run.started", Raw::encode(&Nothing {}))),
        Record::Adopted { .. } => Some(("agent_run.resumed", Raw::encode(&Nothing {}))),
        Record::MailRefused { why, .. } => Some(("agent.mail.refused", Raw::encode(&Why { why }))),
        Record::Questioned { question } => Some(asked(&question.about)),
        Record::Finished { cause, also, .. } => {
            let also = also.iter().map(|cause| cause.name()).collect();
            let suspect = now.last_end.as_ref().and_then(|end| end.suspect.as_deref());
            let error = error(before, now, record);
            let resumable = cause.is_resumable();
            let fields = Raw::encode(&End { cause: cause.name(), resumable, also, suspect, error });
            Some((end_name(now), fields))
        }
        _ => None,
    }
}

/// What went wrong in full, for whoever looks into it: an error and what caused it, or the limit
/// that ended the run with what was used of it. The model never sees it.
fn error(before: Option<&Conversation>, now: &Conversation, record: &Record) -> Option<String> {
    let Record::Finished { cause, said, .. } = record else { return None };
    if end_name(now) != "agent_run.failed" {
        return None;
    }
    let last = before.and_then(|before| before.run.as_ref()?.last_error.clone());
    let said = said.as_deref().filter(|said| !said.trim().is_empty()).map(ToOwned::to_owned);
    let told = match cause {
        StopCause::ProviderFailed
        | StopCause::ToolFatal
        | StopCause::TruncationExhausted
        | StopCause::StructuredOutputRetries
        | StopCause::Unexpected
        | StopCause::HookStopped => last.map(|last| last.to_string()).or(said),
        _ => said,
    };
    told.or_else(|| Some(limit_reached(before?, *cause).unwrap_or_else(|| cause.name().to_owned())))
}

fn asked(about: &About) -> Named {
    match about {
        About::Uncertain { .. } | About::Drift { .. } => {
            ("agent_run.resume_unsafe", Raw::encode(about))
        }
        About::Approval { .. }
        | About::Asking { .. }
        | About::Plan { .. }
        | About::Guidance { .. }
        | About::Budget { .. } => ("agent_run.asked_human", Raw::encode(about)),
    }
}

fn end_name(now: &Conversation) -> &'static str {
    let state = now.last_end.as_ref().map(|ended| ended.cause.state(ended.has_text()));
    match state {
        Some(RunState::Completed) => "agent_run.completed",
        Some(RunState::Cancelled) => "agent_run.cancelled",
        _ => "agent_run.failed",
    }
}
