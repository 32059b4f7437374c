//! `windlass runs`: what ran, newest first.

use std::path::Path;
use std::process::ExitCode;

use windlass::SystemClock;
use windlass::core::stop::RunState;
use windlass::ports::{Clock, RunInfo, Store};
use windlass_runtime::identity::is_gone;

use crate::look::args::RunsArgs;
use crate::look::find;
use crate::look::paper::Paper;
use crate::look::runs::{Around, Filter, Listed, table};
use crate::settle::paths;
use crate::{setup, show, words};

pub(crate) async fn runs(args: &RunsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let here = Path::new(".").canonicalize().unwrap_or_default();
    let now = SystemClock::start().now();
    let filter = Filter::new(args, &here, now);
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    for run in find::newest(store.as_ref(), most, |run| filter.wants(run)).await? {
        let driven = is_driven(store.as_ref(), &run).await?;
        listed.push(Listed { run, driven });
    }
    if args.json {
        for run in &listed {
            show::line(&run.json()?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if listed.is_empty() {
        let is_empty = !filter.is_any() || store.runs(None, 1).await?.is_empty();
        show::line(&match is_empty {
            true => setup::no_runs(&args.store),
            false => words::NO_SUCH_RUNS.to_owned(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    let home = paths::home();
    let around = Around { here: &here, home: home.as_deref(), now };
    table(&listed, &around, Paper::stdout()).iter().for_each(|line| show::line(line));
    advise(&listed);
    Ok(ExitCode::SUCCESS)
}

/// Says what to do where a run does not go on by itself.
fn advise(listed: &[Listed]) {
    if listed.iter().any(Listed::is_interrupted) {
        show::note(words::RUNS_ARE_INTERRUPTED);
    }
    if listed.iter().any(Listed::needs_answer) {
        show::note(words::RUNS_NEED_ANSWERS);
    }
}

/// Whether a process works on a run that is at work by what is stored.
async fn is_driven(store: &dyn Store, run: &RunInfo) -> anyhow::Result<Option<bool>> {
    if !matches!(run.state, RunState::Running | RunState::WaitingOnProvider) {
        return Ok(None);
    }
    let owner = store.lane(run.lane.clone()).await?.and_then(|lane| lane.owner);
    Ok(Some(owner.is_some_and(|owner| !is_gone(&owner))))
}
