//! `windlass runs`: what ran, newest first.

use std::process::ExitCode;

use serde::Serialize;
use windlass::ports::RunInfo;

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
    state: windlass::core::stop::RunState,
    cause: Option<windlass::StopCause>,
    text: Option<&'a str>,
    at_ms: u64,
}

pub(crate) async fn runs(store: &StoreArgs, json: bool) -> anyhow::Result<ExitCode> {
    let runs = setup::store(store).await?.runs(None, MOST).await?;
    if runs.is_empty() && !json {
        show::line(words::NO_RUNS);
    }
    for run in &runs {
        show::line(&if json { as_json(run)? } else { as_text(run) });
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(run: &RunInfo) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&Line {
        run: run.run.as_str(),
        conversation: run.lane.as_str(),
        state: run.state,
        cause: run.cause,
        text: run.text.as_deref(),
        at_ms: run.at.0,
    })?)
}

fn as_text(run: &RunInfo) -> String {
    let cause = run.cause.map_or("", windlass::StopCause::reason);
    let (when, state) = (time::stamp(run.at), stored_name(&run.state));
    let said = run.text.as_deref().map(|text| one_line(&show::harmless(text), SAID_CHARS));
    let line = format!("{}  {when}  {state:<16} {cause:<12} {}", run.run, run.lane);
    said.map_or_else(|| line.clone(), |said| format!("{line}  {said}"))
}
