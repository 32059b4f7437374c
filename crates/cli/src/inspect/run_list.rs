//! The list of runs: filters, state labels, and a table that fits the terminal.

mod run_table;

use std::path::{Path, PathBuf};

use serde::Serialize;
use windlass::StopCause;
use windlass::core::log::ids::UnixMillis;
use windlass::core::stop::RunState;
use windlass::ports::RunInfo;

use super::id_lookup;
use super::worker_status::Need;
use crate::args::inspect_args::RunsArgs;
use crate::terminal::Color;

pub(crate) use run_table::{TableContext, format_table};

/// Which runs are listed.
pub(crate) struct RunFilter {
    text: Option<String>,
    states: Vec<RunState>,
    folder: Option<PathBuf>,
    agent: Option<String>,
    since: Option<UnixMillis>,
}

impl RunFilter {
    /// The filter given by the arguments.
    pub(crate) fn new(args: &RunsArgs, here: &Path, now: UnixMillis) -> Self {
        let mut states = Vec::new();
        if args.waiting {
            states.push(RunState::WaitingOnHuman);
        }
        if args.failed {
            states.extend([RunState::Failed, RunState::TimedOut]);
        }
        Self {
            text: args.text.as_ref().map(|text| text.to_lowercase()),
            states,
            folder: args.here.then(|| here.to_owned()),
            agent: args.agent.clone(),
            since: args.since.map(|ms| UnixMillis(now.0.saturating_sub(ms))),
        }
    }

    /// Returns whether any criterion was given.
    pub(crate) fn has_criteria(&self) -> bool {
        self.text.is_some()
            || !self.states.is_empty()
            || self.folder.is_some()
            || self.agent.is_some()
            || self.since.is_some()
    }

    /// Returns whether the run matches the filter.
    pub(crate) fn matches(&self, run: &RunInfo) -> bool {
        let agent = run.description.agent.as_deref();
        (self.states.is_empty() || self.states.contains(&run.state))
            && self.folder.as_deref().is_none_or(|folder| id_lookup::is_in_folder(run, folder))
            && self.agent.as_deref().is_none_or(|wanted| agent == Some(wanted))
            && self.since.is_none_or(|since| run.at >= since)
            && self.text.as_deref().is_none_or(|text| contains_text(run, text))
    }
}

/// Returns whether the text occurs in the prompt, the answer, the folder or the ids of the run.
fn contains_text(run: &RunInfo, text: &str) -> bool {
    let about = &run.description;
    let texts = [&about.prompt, &run.text, &about.folder];
    let texts = texts.into_iter().flatten().map(|text| &**text);
    let mut all = texts.chain([run.run.as_str(), run.lane.as_str()]);
    all.any(|found| found.to_lowercase().contains(text))
}

/// A run, and whether a process drives it.
pub(crate) struct ListedRun {
    pub(crate) run: RunInfo,
    /// Whether a process drives the run; `None` if no process has to.
    pub(crate) driven: Option<bool>,
    /// What the run waits for before a process can drive it.
    pub(crate) waits_for: Option<Need>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    run: &'a str,
    conversation: &'a str,
    state: RunState,
    cause: Option<StopCause>,
    prompt: Option<&'a str>,
    text: Option<&'a str>,
    folder: Option<&'a str>,
    agent: Option<&'a str>,
    profile: Option<&'a str>,
    model: Option<&'a str>,
    /// Cost in dollars; `None` if the price of the model is unknown.
    cost_usd: Option<f64>,
    at_ms: u64,
    driven: Option<bool>,
    resume_available: bool,
    cancel_requested: bool,
    waits_for: Option<String>,
}

impl ListedRun {
    /// Returns whether the run is interrupted: its process is gone.
    pub(crate) fn is_interrupted(&self) -> bool {
        let is_dead = self.run.state == RunState::TimedOut && self.run.cause.is_none();
        self.driven == Some(false) || is_dead
    }

    /// Returns whether the run waits for an answer.
    pub(crate) fn needs_answer(&self) -> bool {
        self.run.state == RunState::WaitingOnHuman
            || matches!(self.waits_for, Some(Need::Answer(_)))
    }

    /// The stop cause that is shown beside a state that alone says too little.
    pub(crate) fn named_cause(&self) -> Option<StopCause> {
        let usual = |cause: &StopCause| {
            matches!(cause, StopCause::EndTurn | StopCause::UserCancel | StopCause::HardTime)
        };
        self.run.cause.filter(|cause| !usual(cause))
    }

    /// The state label, in a word or two.
    pub(crate) fn state_label(&self) -> (String, Color) {
        let (word, ink) = match self.run.state {
            _ if self.is_interrupted() => ("interrupted", Color::Yellow),
            RunState::Running | RunState::WaitingOnHuman | RunState::WaitingOnProvider
                if self.run.cancel_requested =>
            {
                ("cancelling", Color::Yellow)
            }
            _ if self.needs_answer() => ("needs answer", Color::Yellow),
            RunState::Queued => ("queued", Color::Dim),
            RunState::Running => ("running", Color::Bold),
            RunState::WaitingOnHuman => ("needs answer", Color::Yellow),
            RunState::WaitingOnProvider => ("retrying", Color::Yellow),
            RunState::Completed => ("done", Color::Green),
            RunState::Failed => ("failed", Color::Red),
            RunState::Cancelled => ("cancelled", Color::Dim),
            RunState::TimedOut => ("timed out", Color::Red),
        };
        match self.named_cause() {
            Some(cause) => (format!("{word}: {}", cause.as_str()), ink),
            None => (word.to_owned(), ink),
        }
    }

    /// Serializes the run as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let Self { run, driven, .. } = self;
        let about = &run.description;
        serde_json::to_string(&RunJson {
            run: run.run.as_str(),
            conversation: run.lane.as_str(),
            state: run.state,
            cause: run.cause,
            prompt: about.prompt.as_deref(),
            text: run.text.as_deref(),
            folder: about.folder.as_deref(),
            agent: about.agent.as_deref(),
            profile: about.profile.as_deref(),
            model: about.model.as_deref(),
            cost_usd: run.usd_micros.map(to_dollars),
            at_ms: run.at.0,
            driven: *driven,
            resume_available: run.resume_available,
            cancel_requested: run.cancel_requested,
            waits_for: self.waits_for.as_ref().map(Need::to_string),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of money far below 2^53 micro-dollars")]
fn to_dollars(usd_micros: u64) -> f64 {
    usd_micros as f64 / 1_000_000.0
}

#[cfg(test)]
#[path = "run_list_tests.rs"]
mod run_list_tests;
