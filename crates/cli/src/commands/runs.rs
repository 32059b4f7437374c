//! `windlass runs`: what ran, newest first.

use std::process::ExitCode;

use serde::Serialize;
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store};
use windlass_runtime::identity::is_gone;

use crate::args::StoreArgs;
use crate::look::paper::one_line;
use crate::look::time;
use crate::look::words::stored_name;
use crate::{setup, show, words};

/// Runs listed at most.
const MOST: usize = 200;

/// Characters shown of what a run said last.
const SAID_CHARS: usize = 60;

#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    conversation: &'a str,
    state: RunState,
    cause: Option<windlass::StopCause>,
    text: Option<&'a str>,
    at_ms: u64,
    /// Whether a process works on it; nothing if none has to.
    driven: Option<bool>,
}

pub(crate) async fn runs(store: &StoreArgs, json: bool) -> anyhow::Result<ExitCode> {
    let store = setup::store(store).await?;
    let runs = store.runs(None, MOST).await?;
    if runs.is_empty() && !json {
        show::line(words::NO_RUNS);
    }
    let mut are_left = false;
    for run in &runs {
        let driven = is_driven(store.as_ref(), run).await?;
        are_left |= driven == Some(false);
        show::line(&if json { as_json(run, driven)? } else { as_text(run, driven) });
    }
    if are_left && !json {
        show::note(words::RUNS_ARE_LEFT);
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a process works on a run that is at work by what is stored.
async fn is_driven(store: &dyn Store, run: &RunInfo) -> anyhow::Result<Option<bool>> {
    if !matches!(run.state, RunState::Running | RunState::WaitingOnProvider) {
        return Ok(None);
    }
    let owner = store.lane(run.lane.clone()).await?.and_then(|lane| lane.owner);
    Ok(Some(owner.is_some_and(|owner| !is_gone(&owner))))
}

fn as_json(run: &RunInfo, driven: Option<bool>) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&Line {
        run: run.run.as_str(),
        conversation: run.lane.as_str(),
        state: run.state,
        cause: run.cause,
        text: run.text.as_deref(),
        at_ms: run.at.0,
        driven,
    })?)
}

fn as_text(run: &RunInfo, driven: Option<bool>) -> String {
    let cause = match (run.cause, driven) {
        (Some(cause), _) => cause.reason(),
        (None, Some(false)) => "left",
        (None, _) => "",
    };
    let (when, state) = (time::stamp(run.at), stored_name(&run.state));
    let said = run.text.as_deref().map(|text| one_line(&show::harmless(text), SAID_CHARS));
    let line = format!("{}  {when}  {state:<16} {cause:<12} {}", run.run, run.lane);
    said.map_or_else(|| line.clone(), |said| format!("{line}  {said}"))
}
