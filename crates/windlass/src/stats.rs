//! Statistics over the runs of a store, computed from how each ended: how often a limit stopped one,
//! how often a stop was unexpected, and how many iterations an answer takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use windlass_core::log::ids::UnixMillis;
use windlass_core::stop::StopCause;
use windlass_runtime::ports::{EventCount, RunTraceEnd, StoreError, ToolStats};

use crate::Windlass;

/// Maximum number of runs that are counted.
const MAX_RUNS: usize = 1_000_000;

impl Windlass {
    /// Counts how the runs of the store have ended since a time; `windlass stats` prints the same
    /// value.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::core::log::ids::UnixMillis;
    /// use windlass::scripted::Script;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let script = Script::parse("when any\n  say \"Hello.\"\n")?;
    /// let client = windlass::client().script(script).open().await?;
    /// client.ask("Hi").await?;
    /// let stats = client.windlass().stats(UnixMillis(0)).await?;
    /// assert_eq!((stats.runs, stats.reasons["end_turn"]), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stats(&self, since: UnixMillis) -> Result<RunStats, StoreError> {
        let store = self.store();
        let ends = store.list_trace_ends(since, MAX_RUNS).await?;
        let (events, tools) = (store.event_counts(since).await?, store.tool_stats(since).await?);
        Ok(count_runs(&ends, &events, &tools))
    }
}

/// Statistics over finished runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunStats {
    /// The number of finished runs.
    pub runs: usize,
    /// Runs that the limit on rounds or model calls stopped.
    pub stopped_at_cap: usize,
    /// Runs that stopped for an unknown reason.
    pub unexpected: usize,
    /// Whether fewer than 0.3 % of the runs stopped unexpectedly.
    pub unexpected_within_target: bool,
    /// How often each stop cause ended a run.
    pub reasons: BTreeMap<Arc<str>, usize>,
    /// The number of runs by the number of iterations to their answer.
    pub iterations_to_end_turn: BTreeMap<u32, usize>,
    /// Statistics by agent and profile, with their escalations.
    pub agents: Vec<AgentStats>,
    /// Statistics of each tool.
    pub tools: Vec<ToolUsage>,
}

/// Statistics of the runs of an agent under a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentStats {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The profile; empty if none was chosen.
    pub profile: Arc<str>,
    /// The number of finished runs.
    pub runs: usize,
    /// How often each kind of escalation happened: loops, guardrails, recoveries, questions.
    pub escalations: BTreeMap<Arc<str>, u64>,
}

/// Statistics of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolUsage {
    /// The name of the tool.
    pub tool: Arc<str>,
    /// Calls that ran.
    pub calls: u64,
    /// How often the calls ran, including retries.
    pub attempts: u64,
    /// Calls that were retried.
    pub retried: u64,
    /// Calls that failed.
    pub failed: u64,
}

/// Events that count as escalations: the agent did not succeed by itself.
const ESCALATION_EVENTS: [&str; 6] = [
    "agent.loop.detected",
    "agent.guardrail.escalated",
    "agent.recovery.fired",
    "agent.exhaustion.hard_limit",
    "agent_run.asked_human",
    "agent_run.resume_unsafe",
];

/// Counts the ends of runs, the events of their agents, and the calls of tools.
#[must_use]
pub fn count_runs(ends: &[RunTraceEnd], events: &[EventCount], tools: &[ToolStats]) -> RunStats {
    let mut reasons = BTreeMap::new();
    let mut iterations = BTreeMap::new();
    for end in ends {
        *reasons.entry(end.cause.clone()).or_default() += 1;
        if &*end.cause == StopCause::EndTurn.as_str() {
            *iterations.entry(end.iterations).or_default() += 1;
        }
    }
    let of = |cause: StopCause| reasons.get(cause.as_str()).copied().unwrap_or_default();
    let unexpected: usize = of(StopCause::Unexpected);
    RunStats {
        runs: ends.len(),
        stopped_at_cap: of(StopCause::MaxToolRounds) + of(StopCause::MaxModelCalls),
        unexpected,
        unexpected_within_target: is_within_target(unexpected, ends.len()),
        reasons,
        iterations_to_end_turn: iterations,
        agents: count_by_agent(ends, events),
        tools: tools.iter().map(ToolUsage::from).collect(),
    }
}

impl From<&ToolStats> for ToolUsage {
    fn from(stats: &ToolStats) -> Self {
        let ToolStats { tool, calls, attempts, retried, failed } = stats.clone();
        Self { tool, calls, attempts, retried, failed }
    }
}

fn count_by_agent(ends: &[RunTraceEnd], events: &[EventCount]) -> Vec<AgentStats> {
    let mut agents: BTreeMap<(Arc<str>, Arc<str>), AgentStats> = BTreeMap::new();
    let mut of = |agent: Arc<str>, profile: Arc<str>, runs, escalated: Option<(Arc<str>, u64)>| {
        let new = AgentStats {
            agent: agent.clone(),
            profile: profile.clone(),
            runs: 0,
            escalations: BTreeMap::new(),
        };
        let stats = agents.entry((agent, profile)).or_insert(new);
        stats.runs += runs;
        stats.escalations.extend(escalated);
    };
    for end in ends {
        of(end.agent.clone().unwrap_or_default(), end.profile.clone().unwrap_or_default(), 1, None);
    }
    // Detected loops without consequence would hide those with one.
    let counts =
        |event: &&EventCount| ESCALATION_EVENTS.contains(&&*event.name) && event.escalated > 0;
    for event in events.iter().filter(counts) {
        let escalated = Some((event.name.clone(), event.escalated));
        of(event.agent.clone(), event.profile.clone(), 0, escalated);
    }
    agents.into_values().collect()
}

/// Returns whether fewer than three in a thousand stopped unexpectedly; zero always is.
fn is_within_target(unexpected: usize, runs: usize) -> bool {
    unexpected == 0 || unexpected.saturating_mul(1_000) < runs.saturating_mul(3)
}

impl RunStats {
    /// Returns the number of iterations that this percentage of the answers does not exceed.
    #[must_use]
    pub fn iterations_quantile(&self, percent: usize) -> u32 {
        let total: usize = self.iterations_to_end_turn.values().sum();
        let rank = total.saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reached = self.iterations_to_end_turn.iter().find(|(_, runs)| {
            seen += **runs;
            seen >= rank
        });
        reached.map_or(0, |(iterations, _)| *iterations)
    }
}
