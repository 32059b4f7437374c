//! `windlass explain`: why a run stopped or waits, and what to do next.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::stop::RunState;
use windlass::messages::{RunFacts, TextExcerpt};
use windlass::ports::{Store, StoreError};

use crate::args::inspect_args::InspectArgs;
use crate::inspect::explain::{self, Driver, RunExplanation};
use crate::inspect::history::ConversationHistory;
use crate::inspect::iteration_trace::{self, RunTrace};
use crate::inspect::run_activity::RunActivity;
use crate::inspect::{damage_report, id_lookup, pending_run};
use crate::terminal::{self, Color, OutputStyle};
use crate::{messages, setup};

/// The newest runs of a conversation among which unread prompts are looked for.
const MAX_WAITING_PROMPTS: usize = 100;

/// Sub-agents whose runs are looked up.
const MAX_SUB_AGENTS: usize = 200;

#[derive(Serialize)]
struct ExplainJson<'a> {
    explanation: &'a RunExplanation,
    iterations: Vec<serde_json::Value>,
}

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane.clone()).await?;
    if let Some(queued) = pending_run::find_pending_run(store.as_ref(), &found, &history).await? {
        return queued.print(args.json);
    }
    let run = found.run.or_else(|| history.newest_run_id());
    let run = run.context(messages::action::NO_RUN_IN_CONVERSATION)?;
    let account = read_explanation(store.as_ref(), &history, &run).await?;
    let traces = iteration_trace::build_traces(&history, Some(&run));
    if args.json {
        terminal::print_line(&to_json(&account, &traces)?);
    } else {
        print_text(&account, &traces);
    }
    Ok(damage_report::report_damage(&history))
}

/// Explains a run by its history, and by what the store knows about its process.
pub(crate) async fn read_explanation(
    store: &dyn Store,
    history: &ConversationHistory,
    run: &RunId,
) -> Result<RunExplanation, StoreError> {
    let owner = store.lane_info(history.lane.clone()).await?;
    let activity = RunActivity::read_of(store, &history.lane, run).await?;
    let driver = Driver { lane: owner.as_ref(), need: activity.need.as_ref() };
    let mut facts = history.run_facts(run);
    add_sub_agent_causes(store, &mut facts).await?;
    add_unread_prompts(store, history, run, &mut facts).await?;
    explain::add_denial_sources(history, &mut facts);
    Ok(explain::explain(history, run, driver, facts))
}

/// Adds why the runs of sub-agents ended, which only the store knows.
async fn add_sub_agent_causes(store: &dyn Store, facts: &mut RunFacts) -> Result<(), StoreError> {
    for agent in facts.sub_agents.iter_mut().take(MAX_SUB_AGENTS) {
        let lane = LaneId::from(agent.conversation.as_str());
        let runs = store.list_runs(Some(lane), 1).await?;
        let cause = runs.first().and_then(|run| run.cause);
        agent.cause = cause.map(|cause| cause.as_str().to_owned());
    }
    Ok(())
}

/// Adds prompts that wait behind an active run and that no process has read yet: they are in the store
/// and in no log.
async fn add_unread_prompts(
    store: &dyn Store,
    history: &ConversationHistory,
    run: &RunId,
    facts: &mut RunFacts,
) -> Result<(), StoreError> {
    if history.conversation.run.as_ref().is_none_or(|active| active.id != *run) {
        return Ok(());
    }
    let known = history.run_ids();
    let runs = store.list_runs(Some(history.lane.clone()), MAX_WAITING_PROMPTS).await?;
    let unread = runs.iter().rev().filter(|it| it.state == RunState::Queued);
    let unread = unread.filter(|it| !known.contains(&it.run));
    let prompts = unread.filter_map(|it| it.description.prompt.as_deref());
    facts.waiting_prompts.extend(prompts.map(TextExcerpt::new));
    Ok(())
}

fn to_json(account: &RunExplanation, traces: &[RunTrace]) -> anyhow::Result<String> {
    let mut iterations = Vec::new();
    for trace in traces {
        iterations.extend(trace.to_json()?);
    }
    Ok(serde_json::to_string(&ExplainJson { explanation: account, iterations })?)
}

fn print_text(account: &RunExplanation, traces: &[RunTrace]) {
    let style = OutputStyle::stdout();
    account.to_lines(style).iter().for_each(|line| terminal::print_line(line));
    for trace in traces {
        terminal::print_line("");
        terminal::print_line(&style.paint(Color::Bold, "Iterations"));
        trace.to_table(style).iter().for_each(|line| terminal::print_line(line));
    }
}
