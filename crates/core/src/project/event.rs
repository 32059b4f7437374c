//! Events: what dashboards and `windlass logs` read afterwards.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a record no row is made of is passed over; a new kind decides for itself"
)]

use serde::Serialize;

use super::EventRow;
use crate::conversation::Conversation;
use crate::log::Entry;
use crate::question::About;
use crate::raw::Raw;
use crate::record::Record;
use crate::stop::RunState;

#[derive(Serialize)]
struct Retry {
    call: String,
    until: u64,
}

#[derive(Serialize)]
struct ModelRetry {
    failures: u32,
    until: u64,
}

#[derive(Serialize)]
struct End<'a> {
    cause: &'a str,
    also: Vec<&'a str>,
}

#[derive(Serialize)]
struct Why<'a> {
    why: &'a str,
}

#[derive(Serialize)]
struct Compaction {
    segments_left_out: u64,
    bytes_after: u64,
}

#[derive(Serialize)]
struct Nothing {}

/// The event a record stands for. `now` has the record applied.
pub(super) fn event(now: &Conversation, entry: &Entry, record: &Record) -> Option<EventRow> {
    let (name, fields) = named(now, record)?;
    let run = match record {
        Record::Finished { run, .. } => Some(run.clone()),
        _ => now.run.as_ref().map(|run| run.id.clone()),
    };
    Some(EventRow { run, seq: entry.seq, at: entry.at, name, fields })
}

fn named(now: &Conversation, record: &Record) -> Option<(&'static str, Raw)> {
    match record {
        Record::RunStarted { .. } => Some(("agent_run.started", Raw::encode(&Nothing {}))),
        Record::Adopted { .. } => Some(("agent_run.resumed", Raw::encode(&Nothing {}))),
        Record::Retried { call, until } => {
            let fields = Retry { call: call.to_string(), until: until.0 };
            Some(("agent.tool.retry", Raw::encode(&fields)))
        }
        Record::Deferred { until, failures } => {
            let fields = ModelRetry { failures: *failures, until: until.0 };
            Some(("agent.model.retry", Raw::encode(&fields)))
        }
        Record::AttemptAbandoned { why, .. } => {
            Some(("agent.model.abandoned", Raw::encode(&Why { why })))
        }
        Record::Anomaly { what } => Some(("agent.reply.anomaly", Raw::encode(what))),
        Record::MailRefused { why, .. } => Some(("agent.mail.refused", Raw::encode(&Why { why }))),
        Record::Questioned { question } => Some(asked(&question.about)),
        Record::Compacted { keep_from, .. } => {
            let bytes_after = now.transcript.bytes();
            let fields = Compaction { segments_left_out: *keep_from, bytes_after };
            Some(("agent.compaction.run", Raw::encode(&fields)))
        }
        Record::Finished { cause, also, .. } => {
            let also = also.iter().map(|cause| cause.reason()).collect();
            let fields = Raw::encode(&End { cause: cause.reason(), also });
            Some((end_name(now), fields))
        }
        _ => None,
    }
}

fn asked(about: &About) -> (&'static str, Raw) {
    match about {
        About::Uncertain { .. } | About::Drift { .. } => {
            ("agent_run.resume_unsafe", Raw::encode(about))
        }
        About::Approval { .. } | About::Asking { .. } => {
            ("agent_run.asked_human", Raw::encode(about))
        }
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
