//! The answers of providers as they came, by iteration and attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass::core::ids::{RunId, Seq};
use windlass::core::input::Input;
use windlass::core::project::RawRow;

use super::story::Story;
use super::time;
use crate::show::harmless;

/// Which model call of a run an answer belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attempt {
    run: Option<RunId>,
    iter: u32,
    attempt: u32,
    /// Why it was abandoned; nothing for a reply.
    failed: Option<Arc<str>>,
}

#[derive(Serialize)]
struct Line<'a> {
    run: Option<&'a str>,
    iter: u32,
    attempt: u32,
    at_ms: u64,
    failed: Option<&'a str>,
    answer: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    response: Option<String>,
    omitted_bytes: u64,
}

/// The model calls of a story by the entry that has their answer: all of them, or those of a run and
/// of an iteration.
pub(crate) fn attempts(
    story: &Story,
    only: Option<&RunId>,
    iter: Option<u32>,
) -> BTreeMap<Seq, Attempt> {
    let mut found = BTreeMap::new();
    let mut counts: BTreeMap<Option<RunId>, (u32, u32)> = BTreeMap::new();
    let mut latest = None;
    story.walk(|moment| {
        // An entry has several records; its answer is looked at once.
        if latest.replace(moment.entry.seq) == Some(moment.entry.seq) {
            return;
        }
        let failed = match &moment.entry.input {
            Input::Replied { .. } => None,
            Input::ModelFailed { failure, .. } => Some(Arc::clone(&failure.message)),
            _ => return,
        };
        let run = moment.before.run.as_ref().map(|run| run.id.clone());
        let (replies, failures) = counts.entry(run.clone()).or_default();
        let attempt = Attempt { run, iter: *replies + 1, attempt: *failures + 1, failed };
        (*replies, *failures) = match attempt.failed {
            None => (*replies + 1, 0),
            Some(_) => (*replies, *failures + 1),
        };
        let wanted = only.is_none_or(|only| attempt.run.as_ref() == Some(only));
        if wanted && iter.is_none_or(|iter| iter == attempt.iter) {
            found.insert(moment.entry.seq, attempt);
        }
    });
    found
}

impl Attempt {
    /// The line above an answer.
    pub(crate) fn heading(&self, row: &RawRow) -> String {
        let Self { run, iter, attempt, failed } = self;
        let run = run.as_ref().map_or("", RunId::as_str);
        let at = time::stamp(row.at);
        let failed = failed.as_ref().map_or(String::new(), |why| format!(", failed: {why}"));
        harmless(&format!("run {run}, iteration {iter}, attempt {attempt}, {at}{failed}"))
    }

    /// The same with the answer, for programs.
    pub(crate) fn json(&self, row: &RawRow) -> serde_json::Result<String> {
        let answer: &RawValue = serde_json::from_str(row.body.text())?;
        serde_json::to_string(&Line {
            run: self.run.as_ref().map(RunId::as_str),
            iter: self.iter,
            attempt: self.attempt,
            at_ms: row.at.0,
            failed: self.failed.as_deref(),
            answer,
        })
    }
}

/// The answer as people read it: the body as it came, or whatever else was kept.
pub(crate) fn text(row: &RawRow) -> String {
    let answer: Answer = serde_json::from_str(row.body.text()).unwrap_or_default();
    let Some(response) = answer.response else { return harmless(row.body.text()) };
    let more = match answer.omitted_bytes {
        0 => String::new(),
        bytes => format!("\n[{bytes} more bytes were not kept]"),
    };
    format!("{}{more}", harmless(response.trim_end()))
}
