//! `windlass runs`: lists runs, newest first.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use windlass::ports::Clock;
use windlass::{StopCause, SystemClock};

use crate::args::inspect_args::RunsArgs;
use crate::config::paths;
use crate::inspect::id_lookup;
use crate::inspect::run_activity::RunActivity;
use crate::inspect::run_list::{ListedRun, RunFilter, TableContext, format_table};
use crate::inspect::worker_status::{Need, WorkerList};
use crate::messages::stop_reason;
use crate::terminal::{self, OutputStyle};
use crate::{messages, setup};

/// Maximum number of runs for which the list says what they wait for.
const MAX_REASONS: usize = 5;

pub(crate) async fn run(args: &RunsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let here = Path::new(".").canonicalize().unwrap_or_default();
    let now = SystemClock::start().now();
    let filter = RunFilter::new(args, &here, now);
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let workers = WorkerList::read(store.as_ref()).await?;
    for run in id_lookup::newest_runs(store.as_ref(), limit, |run| filter.matches(run)).await? {
        let RunActivity { driven, need: waits_for } =
            RunActivity::read(store.as_ref(), &workers, &run).await?;
        listed.push(ListedRun { run, driven, waits_for });
    }
    if args.json {
        for run in &listed {
            terminal::print_line(&run.to_json()?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if listed.is_empty() {
        let is_empty = !filter.has_criteria() || store.list_runs(None, 1).await?.is_empty();
        terminal::print_line(&match is_empty {
            true => setup::no_runs_message(&args.store),
            false => messages::NO_MATCHING_RUNS.to_owned(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    let home = paths::home_folder();
    let around = TableContext { here: &here, home: home.as_deref(), now };
    format_table(&listed, &around, OutputStyle::stdout())
        .iter()
        .for_each(|line| terminal::print_line(line));
    print_advice(&listed);
    Ok(ExitCode::SUCCESS)
}

/// Prints what to do about runs that do not continue by themselves, and what the listed stop causes
/// mean.
fn print_advice(listed: &[ListedRun]) {
    let is_left = |one: &ListedRun| matches!(one.waits_for, Some(Need::Resume(_)));
    let is_taken = |one: &ListedRun| one.is_interrupted() && one.waits_for.is_none();
    if listed.iter().any(is_left) {
        terminal::print_note(messages::INTERRUPTED_RUNS_HINT);
    }
    if listed.iter().any(is_taken) {
        terminal::print_note(messages::RUNS_WILL_BE_TAKEN);
    }
    if listed.iter().any(ListedRun::needs_answer) {
        terminal::print_note(messages::ANSWERS_NEEDED_HINT);
    }
    let waiting = listed.iter().filter(|one| !is_left(one));
    let waiting = waiting.filter_map(|one| Some((&one.run.run, one.waits_for.as_ref()?)));
    for (run, waits_for) in waiting.take(MAX_REASONS) {
        terminal::print_note(&format!("{run} is {waits_for}"));
    }
    let causes: BTreeSet<StopCause> = listed.iter().filter_map(ListedRun::named_cause).collect();
    for cause in causes {
        terminal::print_note(&format!("{}: {}", cause.as_str(), stop_reason(cause)));
    }
}
