//! `windlass runs`: what ran, newest first.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use windlass::core::stop::RunState;
use windlass::ports::{Clock, LaneInfo, RunInfo};
use windlass::{StopCause, SystemClock};
use windlass_runtime::identity::is_gone;

use crate::look::args::RunsArgs;
use crate::look::find;
use crate::look::paper::Paper;
use crate::look::runs::{Around, Filter, Listed, table};
use crate::look::waiting::{Need, Workers};
use crate::look::words::why;
use crate::settle::paths;
use crate::{setup, show, words};

/// Runs of which it is said what they wait for.
const MOST_REASONS: usize = 5;

pub(crate) async fn runs(args: &RunsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let here = Path::new(".").canonicalize().unwrap_or_default();
    let now = SystemClock::start().now();
    let filter = Filter::new(args, &here, now);
    let most = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let workers = Workers::read(store.as_ref()).await?;
    for run in find::newest(store.as_ref(), most, |run| filter.wants(run)).await? {
        let lane = store.lane(run.lane.clone()).await?;
        let driven = is_driven(&run, lane.as_ref());
        let waits_for = workers.needed_by(&run, lane.as_ref());
        listed.push(Listed { run, driven, waits_for });
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

/// Says what to do where a run does not go on by itself, and what the stop causes in the list mean.
fn advise(listed: &[Listed]) {
    let is_left = |one: &Listed| matches!(one.waits_for, Some(Need::Resume(_)));
    let is_taken = |one: &Listed| one.is_interrupted() && one.waits_for.is_none();
    if listed.iter().any(is_left) {
        show::note(words::RUNS_ARE_INTERRUPTED);
    }
    if listed.iter().any(is_taken) {
        show::note(words::RUNS_WILL_BE_TAKEN);
    }
    if listed.iter().any(Listed::needs_answer) {
        show::note(words::RUNS_NEED_ANSWERS);
    }
    let waiting = listed.iter().filter(|one| !is_left(one));
    let waiting = waiting.filter_map(|one| Some((&one.run.run, one.waits_for.as_ref()?)));
    for (run, waits_for) in waiting.take(MOST_REASONS) {
        show::note(&format!("{run} is {waits_for}"));
    }
    let causes: BTreeSet<StopCause> = listed.iter().filter_map(Listed::named_cause).collect();
    for cause in causes {
        show::note(&format!("{}: {}", cause.name(), why(cause)));
    }
}

/// Whether a process works on a run that is at work by what is stored.
fn is_driven(run: &RunInfo, lane: Option<&LaneInfo>) -> Option<bool> {
    if !matches!(run.state, RunState::Running | RunState::WaitingOnProvider) {
        return None;
    }
    let owner = lane.and_then(|lane| lane.owner.as_ref());
    Some(owner.is_some_and(|owner| !is_gone(owner)))
}
