//! Statistics over runs, computed from how each ended: how often a limit stopped one, how often a
//! stop was unexpected, and how many iterations an answer takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use windlass::StopCause;
use windlass::ports::{EventCount, RunTraceEnd, ToolStats};

use crate::messages::report;
use crate::terminal::OutputStyle;

/// Maximum number of lines of the histogram.
const MAX_BARS: u32 = 20;

/// Statistics over finished runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RunStats {
    /// The number of finished runs.
    pub(crate) runs: usize,
    /// Runs that the limit on rounds or model calls stopped.
    pub(crate) stopped_at_cap: usize,
    /// Runs that stopped for an unknown reason.
    pub(crate) unexpected: usize,
    /// Whether fewer than 0.3 % of the runs stopped unexpectedly.
    pub(crate) unexpected_within_target: bool,
    /// How often each stop cause ended a run.
    pub(crate) reasons: BTreeMap<Arc<str>, usize>,
    /// The number of runs by the number of iterations to their answer.
    pub(crate) iterations_to_end_turn: BTreeMap<u32, usize>,
    /// Statistics by agent and profile, with their escalations.
    pub(crate) agents: Vec<AgentStats>,
    /// Statistics of each tool.
    pub(crate) tools: Vec<ToolUsage>,
}

/// Statistics of the runs of an agent under a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentStats {
    /// The name of the agent.
    pub(crate) agent: Arc<str>,
    /// The profile; empty if none was chosen.
    pub(crate) profile: Arc<str>,
    /// The number of finished runs.
    pub(crate) runs: usize,
    /// How often each kind of escalation happened: loops, guardrails, recoveries, questions.
    pub(crate) escalations: BTreeMap<Arc<str>, u64>,
}

/// Statistics of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ToolUsage {
    /// The name of the tool.
    pub(crate) tool: Arc<str>,
    /// Calls that ran.
    pub(crate) calls: u64,
    /// How often the calls ran, including retries.
    pub(crate) attempts: u64,
    /// Calls that were retried.
    pub(crate) retried: u64,
    /// Calls that failed.
    pub(crate) failed: u64,
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
pub(crate) fn count_runs(
    ends: &[RunTraceEnd],
    events: &[EventCount],
    tools: &[ToolStats],
) -> RunStats {
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
    /// Renders the statistics as text, with the histogram.
    pub(crate) fn to_lines(&self, style: OutputStyle, days: Option<u32>) -> Vec<String> {
        let mut lines = report::stats::share_lines(self, style, days);
        if !self.iterations_to_end_turn.is_empty() {
            lines.push(String::new());
            lines.push(report::stats::histogram_title(self, style));
            lines.extend(report::stats::bar_lines(&self.histogram_bars(), style));
        }
        lines.extend(report::stats::agent_lines(self, style));
        lines.extend(report::stats::tool_lines(self, style));
        lines
    }

    /// The bars from 1 to the longest run, including gaps: the right tail is what matters.
    fn histogram_bars(&self) -> Vec<HistogramBar> {
        let longest = self.iterations_to_end_turn.keys().last().copied().unwrap_or(1).max(1);
        let step = longest.div_ceil(MAX_BARS).max(1);
        let bar = |from: u32| {
            let upto = from.saturating_add(step - 1);
            let runs = self.iterations_to_end_turn.range(from..=upto).map(|(_, runs)| runs).sum();
            HistogramBar { from, upto, runs }
        };
        let mut bars: Vec<HistogramBar> = (0..MAX_BARS).map(|at| bar(at * step + 1)).collect();
        bars.retain(|bar| bar.from <= longest);
        bars
    }

    /// The number of iterations that this percentage of the answers does not exceed.
    pub(crate) fn quantile(&self, percent: usize) -> u32 {
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

/// One bar of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HistogramBar {
    pub(crate) from: u32,
    pub(crate) upto: u32,
    pub(crate) runs: usize,
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod stats_tests;
