//! The list of runs: which are wanted, how each stands, and a table that fits the terminal.

mod table;

use std::path::{Path, PathBuf};

use serde::Serialize;
use windlass::StopCause;
use windlass::core::ids::Millis;
use windlass::core::stop::RunState;
use windlass::ports::RunInfo;

use super::args::RunsArgs;
use super::find;
use super::paper::Ink;
use super::waiting::Need;

pub(crate) use table::{Around, table};

/// Which runs are wanted.
pub(crate) struct Filter {
    text: Option<String>,
    states: Vec<RunState>,
    folder: Option<PathBuf>,
    agent: Option<String>,
    since: Option<Millis>,
}

impl Filter {
    /// The filter that was typed.
    pub(crate) fn new(args: &RunsArgs, here: &Path, now: Millis) -> Self {
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
            since: args.since.map(|ms| Millis(now.0.saturating_sub(ms))),
        }
    }

    /// Whether something was asked for at all.
    pub(crate) fn is_any(&self) -> bool {
        self.text.is_some()
            || !self.states.is_empty()
            || self.folder.is_some()
            || self.agent.is_some()
            || self.since.is_some()
    }

    /// Whether the run is wanted.
    pub(crate) fn wants(&self, run: &RunInfo) -> bool {
        let agent = run.description.agent.as_deref();
        (self.states.is_empty() || self.states.contains(&run.state))
            && self.folder.as_deref().is_none_or(|folder| find::is_of(run, folder))
            && self.agent.as_deref().is_none_or(|wanted| agent == Some(wanted))
            && self.since.is_none_or(|since| run.at >= since)
            && self.text.as_deref().is_none_or(|text| has(run, text))
    }
}

/// Whether the text stands anywhere in what people know of the run.
fn has(run: &RunInfo, text: &str) -> bool {
    let about = &run.description;
    let texts = [&about.prompt, &run.text, &about.folder];
    let texts = texts.into_iter().flatten().map(|text| &**text);
    let mut all = texts.chain([run.run.as_str(), run.lane.as_str()]);
    all.any(|found| found.to_lowercase().contains(text))
}

/// A run, and whether a process works on it.
pub(crate) struct Listed {
    pub(crate) run: RunInfo,
    /// Nothing if no process has to.
    pub(crate) driven: Option<bool>,
    /// What has to be there before somebody works on it.
    pub(crate) waits_for: Option<Need>,
}

#[derive(Serialize)]
struct Line<'a> {
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
    /// Micro-dollars as dollars; nothing if the price of the model is unknown.
    cost_usd: Option<f64>,
    at_ms: u64,
    driven: Option<bool>,
    resume_available: bool,
    cancel_requested: bool,
    waits_for: Option<String>,
}

impl Listed {
    /// Whether it stands still because its process is gone.
    pub(crate) fn is_interrupted(&self) -> bool {
        let is_dead = self.run.state == RunState::TimedOut && self.run.cause.is_none();
        self.driven == Some(false) || is_dead
    }

    /// Whether a person has to say how to go on.
    pub(crate) fn needs_answer(&self) -> bool {
        self.run.state == RunState::WaitingOnHuman
    }

    /// The stop cause that is shown beside the state, which alone says too little.
    pub(crate) fn named_cause(&self) -> Option<StopCause> {
        let usual = |cause: &StopCause| {
            matches!(cause, StopCause::EndTurn | StopCause::UserCancel | StopCause::HardTime)
        };
        self.run.cause.filter(|cause| !usual(cause))
    }

    /// How it stands, in a word or two.
    fn standing(&self) -> (String, Ink) {
        let (word, ink) = match self.run.state {
            _ if self.is_interrupted() => ("interrupted", Ink::Notable),
            RunState::Running | RunState::WaitingOnHuman | RunState::WaitingOnProvider
                if self.run.cancel_requested =>
            {
                ("cancelling", Ink::Notable)
            }
            RunState::Queued => ("queued", Ink::Faint),
            RunState::Running => ("running", Ink::Strong),
            RunState::WaitingOnHuman => ("needs answer", Ink::Notable),
            RunState::WaitingOnProvider => ("retrying", Ink::Notable),
            RunState::Completed => ("done", Ink::Good),
            RunState::Failed => ("failed", Ink::Bad),
            RunState::Cancelled => ("cancelled", Ink::Faint),
            RunState::TimedOut => ("timed out", Ink::Bad),
        };
        match self.named_cause() {
            Some(cause) => (format!("{word}: {}", cause.name()), ink),
            None => (word.to_owned(), ink),
        }
    }

    /// As JSON.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        let Self { run, driven, .. } = self;
        let about = &run.description;
        serde_json::to_string(&Line {
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
            cost_usd: run.usd_micros.map(dollars),
            at_ms: run.at.0,
            driven: *driven,
            resume_available: run.resume_available,
            cancel_requested: run.cancel_requested,
            waits_for: self.waits_for.as_ref().map(Need::to_string),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of money far below 2^53 micro-dollars")]
fn dollars(usd_micros: u64) -> f64 {
    usd_micros as f64 / 1_000_000.0
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod runs_tests;
