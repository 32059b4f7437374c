//! The health of many runs, computed on how each ended: how often the cap stopped one,
//! how often something unexpected did, and how many iterations an answer takes.

mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use windlass::StopCause;
use windlass::ports::{EventCount, ToolStats, TraceEnd};

use super::paper::Paper;

/// Lines of the histogram at most.
const BARS: u32 = 20;

/// What the runs have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Stats {
    /// Runs that are over.
    pub(crate) runs: usize,
    /// Runs that the cap on rounds or model calls stopped.
    pub(crate) stopped_at_cap: usize,
    /// Runs that stopped for a reason nobody knows.
    pub(crate) unexpected: usize,
    /// Whether fewer than 0.3 % did.
    pub(crate) unexpected_within_target: bool,
    /// How often each stop cause ended a run.
    pub(crate) reasons: BTreeMap<Arc<str>, usize>,
    /// How many iterations took how many runs to their answer.
    pub(crate) iterations_to_end_turn: BTreeMap<u32, usize>,
    /// The same runs by agent and profile, with what was escalated there.
    pub(crate) agents: Vec<AgentStats>,
    /// How each tool did.
    pub(crate) tools: Vec<ToolLine>,
}

/// The runs of an agent under a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentStats {
    /// Which agent.
    pub(crate) agent: Arc<str>,
    /// The profile; empty if none was chosen.
    pub(crate) profile: Arc<str>,
    /// Runs that are over.
    pub(crate) runs: usize,
    /// How often each kind of escalation happened: loops, guardrails, recoveries, questions.
    pub(crate) escalations: BTreeMap<Arc<str>, u64>,
}

/// How a tool did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ToolLine {
    /// Which tool.
    pub(crate) tool: Arc<str>,
    /// Calls that ran.
    pub(crate) calls: u64,
    /// How often they ran, retries included.
    pub(crate) attempts: u64,
    /// Calls that were tried more than once.
    pub(crate) retried: u64,
    /// Calls that ended badly.
    pub(crate) failed: u64,
}

/// Events that say that an agent did not get on by itself.
const ESCALATIONS: [&str; 6] = [
    "agent.loop.detected",
    "agent.guardrail.escalated",
    "agent.recovery.fired",
    "agent.exhaustion.hard_limit",
    "agent_run.asked_human",
    "agent_run.resume_unsafe",
];

/// Counts the ends of runs, the events of their agents, and the calls of tools.
pub(crate) fn count(ends: &[TraceEnd], events: &[EventCount], tools: &[ToolStats]) -> Stats {
    let mut reasons = BTreeMap::new();
    let mut iterations = BTreeMap::new();
    for end in ends {
        *reasons.entry(end.cause.clone()).or_default() += 1;
        if &*end.cause == StopCause::EndTurn.name() {
            *iterations.entry(end.iter).or_default() += 1;
        }
    }
    let of = |cause: StopCause| reasons.get(cause.name()).copied().unwrap_or_default();
    let unexpected: usize = of(StopCause::Unexpected);
    Stats {
        runs: ends.len(),
        stopped_at_cap: of(StopCause::MaxToolRounds) + of(StopCause::MaxModelCalls),
        unexpected,
        unexpected_within_target: is_within_target(unexpected, ends.len()),
        reasons,
        iterations_to_end_turn: iterations,
        agents: by_agent(ends, events),
        tools: tools.iter().map(ToolLine::from).collect(),
    }
}

impl From<&ToolStats> for ToolLine {
    fn from(stats: &ToolStats) -> Self {
        let ToolStats { tool, calls, attempts, retried, failed } = stats.clone();
        Self { tool, calls, attempts, retried, failed }
    }
}

fn by_agent(ends: &[TraceEnd], events: &[EventCount]) -> Vec<AgentStats> {
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
    // A loop that was detected and led to nothing would hide those that did.
    let counts = |event: &&EventCount| ESCALATIONS.contains(&&*event.name) && event.escalated > 0;
    for event in events.iter().filter(counts) {
        let escalated = Some((event.name.clone(), event.escalated));
        of(event.agent.clone(), event.profile.clone(), 0, escalated);
    }
    agents.into_values().collect()
}

/// Fewer than three in a thousand; none is always few enough.
fn is_within_target(unexpected: usize, runs: usize) -> bool {
    unexpected == 0 || unexpected.saturating_mul(1_000) < runs.saturating_mul(3)
}

impl Stats {
    /// As text, with the histogram drawn.
    pub(crate) fn lines(&self, paper: Paper, days: Option<u32>) -> Vec<String> {
        let mut lines = words::shares(self, paper, days);
        if !self.iterations_to_end_turn.is_empty() {
            lines.push(String::new());
            lines.push(words::histogram_title(self, paper));
            lines.extend(words::bars(&self.bars(), paper));
        }
        lines.extend(words::agents(self, paper));
        lines.extend(words::tools(self, paper));
        lines
    }

    /// Bars from 1 to the longest run, gaps and all: the right tail is what is watched.
    fn bars(&self) -> Vec<Bar> {
        let longest = self.iterations_to_end_turn.keys().last().copied().unwrap_or(1).max(1);
        let step = longest.div_ceil(BARS).max(1);
        let bar = |from: u32| {
            let upto = from.saturating_add(step - 1);
            let runs = self.iterations_to_end_turn.range(from..=upto).map(|(_, runs)| runs).sum();
            Bar { from, upto, runs }
        };
        let mut bars: Vec<Bar> = (0..BARS).map(|at| bar(at * step + 1)).collect();
        bars.retain(|bar| bar.from <= longest);
        bars
    }

    /// The number of iterations that so many per cent of the answers do not exceed.
    fn quantile(&self, percent: usize) -> u32 {
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

/// A line of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bar {
    from: u32,
    upto: u32,
    runs: usize,
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod stats_tests;
