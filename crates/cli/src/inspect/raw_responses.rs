//! Raw provider responses by iteration and attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass::core::log::ids::{RunId, Seq};
use windlass::core::log::input::Input;
use windlass::core::projection::RawRow;

use super::history::ConversationHistory;
use crate::terminal::{sanitize_text, time_format};

/// The model call to which a response belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelAttempt {
    run: Option<RunId>,
    pub(crate) iter: u32,
    attempt: u32,
    /// Why the attempt failed; `None` for a reply.
    failed: Option<Arc<str>>,
}

#[derive(Serialize)]
struct RawResponseJson<'a> {
    run: Option<&'a str>,
    iter: u32,
    attempt: u32,
    at_ms: u64,
    failed: Option<&'a str>,
    answer: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredFields {
    omitted_bytes: u64,
}

/// The model calls of a conversation by the entry that has their response: all of them, or those of
/// a run.
pub(crate) fn find_attempts(
    history: &ConversationHistory,
    only: Option<&RunId>,
) -> BTreeMap<Seq, ModelAttempt> {
    let mut found = BTreeMap::new();
    let mut counts: BTreeMap<Option<RunId>, (u32, u32)> = BTreeMap::new();
    let mut latest = None;
    history.for_each_record(|moment| {
        // An entry has several records; its response is read once.
        if latest.replace(moment.entry.seq) == Some(moment.entry.seq) {
            return;
        }
        let failed = match &moment.entry.input {
            Input::ModelReplied { .. } => None,
            Input::ModelFailed { failure, .. } => Some(Arc::clone(&failure.message)),
            _ => return,
        };
        let run = moment.before.run.as_ref().map(|run| run.id.clone());
        let (replies, failures) = counts.entry(run.clone()).or_default();
        let attempt = ModelAttempt { run, iter: *replies + 1, attempt: *failures + 1, failed };
        (*replies, *failures) = match attempt.failed {
            None => (*replies + 1, 0),
            Some(_) => (*replies, *failures + 1),
        };
        if only.is_none_or(|only| attempt.run.as_ref() == Some(only)) {
            found.insert(moment.entry.seq, attempt);
        }
    });
    found
}

impl ModelAttempt {
    /// The heading above a response.
    pub(crate) fn heading(&self, row: &RawRow) -> String {
        let Self { run, iter, attempt, failed } = self;
        let run = run.as_ref().map_or("", RunId::as_str);
        let at = time_format::format_timestamp(row.at);
        let failed = failed.as_ref().map_or(String::new(), |reason| format!(", failed: {reason}"));
        sanitize_text(&format!("run {run}, iteration {iter}, attempt {attempt}, {at}{failed}"))
    }

    /// Serializes the attempt with its response as JSON.
    pub(crate) fn to_json(&self, row: &RawRow) -> serde_json::Result<String> {
        let answer = answer_json(row)?;
        serde_json::to_string(&RawResponseJson {
            run: self.run.as_ref().map(RunId::as_str),
            iter: self.iter,
            attempt: self.attempt,
            at_ms: row.at.0,
            failed: self.failed.as_deref(),
            answer: &answer,
        })
    }
}

/// Everything that was kept of a response, as one JSON value.
fn answer_json(row: &RawRow) -> serde_json::Result<Box<RawValue>> {
    let Some(response) = &row.response else { return serde_json::from_str(row.body.text()) };
    // A damaged body is a text, and no object.
    let fields = serde_json::from_str::<BTreeMap<&str, Box<RawValue>>>(row.body.text());
    let mut fields = fields.unwrap_or_default();
    fields.insert("response", serde_json::value::to_raw_value(response)?);
    serde_json::value::to_raw_value(&fields)
}

/// The response as people read it: the body as received, or whatever else was kept.
pub(crate) fn response_text(row: &RawRow) -> String {
    let Some(response) = &row.response else { return sanitize_text(row.body.text()) };
    let answer: StoredFields = serde_json::from_str(row.body.text()).unwrap_or_default();
    let more = match answer.omitted_bytes {
        0 => String::new(),
        bytes => format!("\n[{bytes} more bytes were not stored]"),
    };
    format!("{}{more}", sanitize_text(response.trim_end()))
}
