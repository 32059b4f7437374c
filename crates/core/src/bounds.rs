//! What the numbers of the settings may be. A mechanism can be set within its range; none can be
//! switched off by a number, and none can be set so high that it never acts.
//!
//! Not here: what happens to settings that were recorded. They were judged when they were loaded, and
//! an old log is folded with whatever it holds.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::gate::Need;
use crate::limits::{Limits, Times};
use crate::settings::{ASK_TOOL, Model, Settings};
use crate::window::{BadThresholds, Summariser};

/// A day.
const DAY_MS: u64 = 86_400_000;

/// The longest pause or wait for one thing.
const LONG_MS: u64 = 30 * DAY_MS;

/// Repeats of one call.
const MOST_REPEATS: usize = 10;

/// Settings that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// A number outside of its range.
    #[error("{name} is {value}; give a number from {least} to {most}")]
    OutOfRange {
        /// Its name.
        name: Arc<str>,
        /// What it is.
        value: u64,
        /// The least it can be.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Shares of the window that contradict each other.
    #[error(transparent)]
    Thresholds(#[from] BadThresholds),
    /// A run without an end.
    #[error("the time of a run has no limit; give soft_ms and hard_ms")]
    NoTimes,
    /// The soft limit does not come before the hard one.
    #[error(
        "a run sums up after {soft_ms} ms and is ended after {hard_ms} ms; make soft_ms the smaller one"
    )]
    Times {
        /// When it sums up.
        soft_ms: u64,
        /// When it is ended.
        hard_ms: u64,
    },
    /// A tool that is not offered.
    #[error("{what} names the tool {tool}, which is not offered; there are {offered}")]
    UnknownTool {
        /// What names it.
        what: &'static str,
        /// Its name.
        tool: Arc<str>,
        /// The tools that there are.
        offered: Arc<str>,
    },
    /// Too many pauses, or none.
    #[error(
        "tool_retry_ms has {pauses} pauses; give 1 to {MOST_REPEATS}, such as [500, 2000, 8000]"
    )]
    Repeats {
        /// How many.
        pauses: usize,
    },
}

impl Settings {
    /// Whether the numbers make sense, each and together. Whoever loads settings asks this once.
    pub fn checked(&self) -> Result<(), BadSettings> {
        let others = match &self.window.summariser {
            Summariser::Model(model) => Some(model),
            Summariser::Own | Summariser::Nobody => None,
        };
        for model in [&self.model].into_iter().chain(&self.fallback).chain(others) {
            check_model(model)?;
        }
        self.window.thresholds.checked()?;
        check_limits(&self.limits)?;
        self.times.as_ref().map_or(Err(BadSettings::NoTimes), check_times)
    }
}

impl Settings {
    /// Whether the tools that the settings name are offered: a checklist with a typo would reject
    /// every answer. Asked once the tools are known.
    pub fn check_tool_names(&self) -> Result<(), BadSettings> {
        let checklist = self.gate.checklist.iter().flat_map(Need::tools);
        let checklist = checklist.map(|tool| ("the checklist", tool));
        let exempt = self.guards.exempt.iter().map(|tool| ("exempt_tools", &**tool));
        let lookup = self.guards.lookup_tool.iter().map(|tool| ("lookup_tool", &**tool));
        // The tool that is usual need not be offered; one that somebody named must be.
        let ask = Some(&*self.guards.ask_tool).filter(|tool| *tool != ASK_TOOL);
        let ask = ask.map(|tool| ("ask_tool", tool));
        let is_unknown =
            |(_, tool): &(_, &str)| !self.tools.iter().any(|offered| &*offered.name == *tool);
        match checklist.chain(exempt).chain(lookup).chain(ask).find(is_unknown) {
            None => Ok(()),
            Some((what, tool)) => {
                let offered = self.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>();
                let offered = match offered.as_slice() {
                    [] => Arc::from("none"),
                    names => Arc::from(names.join(", ")),
                };
                Err(BadSettings::UnknownTool { what, tool: Arc::from(tool), offered })
            }
        }
    }
}

fn within(name: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), BadSettings> {
    let (least, most) = (*range.start(), *range.end());
    let bad = || BadSettings::OutOfRange { name: Arc::from(name), value, least, most };
    if range.contains(&value) { Ok(()) } else { Err(bad()) }
}

fn check_model(model: &Model) -> Result<(), BadSettings> {
    let of = |what: &str| format!("{what} of the model {}", model.name);
    within(&of("window_tokens"), model.window_tokens, 1_000..=1_000_000_000)?;
    within(&of("max_tokens"), model.max_tokens, 1..=1_000_000_000)?;
    within(&of("most_output_tokens"), model.most_output_tokens, 1..=1_000_000_000)
}

fn check_limits(limits: &Limits) -> Result<(), BadSettings> {
    // A loop that is longer than what is looked back on would never be found.
    let window = u64::from(limits.loop_window_calls.max(2));
    let numbers: [(&str, u64, RangeInclusive<u64>); 34] = [
        ("tool_rounds", limits.tool_rounds.into(), 1..=10_000),
        ("model_calls", limits.model_calls.into(), 1..=100_000),
        ("run_tokens", limits.run_tokens.unwrap_or(u64::MAX), 1..=u64::MAX),
        ("least_output_tokens", limits.least_output_tokens, 1..=1_000_000),
        ("parallel_calls", limits.parallel_calls.into(), 1..=1_024),
        ("early_calls", limits.early_calls.into(), 0..=1_024),
        ("calls_per_reply", limits.calls_per_reply.into(), 1..=4_096),
        ("result_chars", limits.result_chars, 100..=10_000_000),
        ("queued_prompts", limits.queued_prompts.into(), 1..=10_000),
        ("waiting_steers", limits.waiting_steers.into(), 1..=10_000),
        ("model_retry_ms", limits.model_retry_ms, 1..=DAY_MS),
        ("model_retry_most_ms", limits.model_retry_most_ms, 1..=DAY_MS),
        ("model_retries", limits.model_retries.into(), 1..=1_000),
        ("fallback_failures", limits.fallback_failures.into(), 1..=1_000),
        ("truncations", limits.truncations.into(), 1..=100),
        ("reprompts", limits.reprompts.into(), 1..=100),
        ("kept_messages", limits.kept_messages.into(), 1..=100),
        ("sliding_messages", limits.sliding_messages.into(), 2..=100_000),
        ("cancel_wait_ms", limits.cancel_wait_ms, 1..=LONG_MS),
        ("provider_wait_ms", limits.provider_wait_ms, 0..=LONG_MS),
        ("answer_wait_ms", limits.answer_wait_ms, 0..=LONG_MS),
        ("local_wait_ms", limits.local_wait_ms, 0..=LONG_MS),
        ("rejections", limits.rejections.into(), 1..=100),
        ("output_retries", limits.output_retries.into(), 1..=100),
        ("summary_tokens", limits.summary_tokens, 1..=1_000_000),
        ("recoveries", limits.recoveries.into(), 1..=100),
        ("recovery_iterations", limits.recovery_iterations.into(), 1..=1_000),
        ("loop_window_calls", limits.loop_window_calls.into(), 2..=30),
        ("loop_identical_calls", limits.loop_identical_calls.into(), 2..=window),
        ("loop_same_tool_calls", limits.loop_same_tool_calls.into(), 2..=window),
        ("children", limits.children.into(), 1..=1_024),
        ("child_depth", limits.child_depth.into(), 0..=16),
        ("hook_ms", limits.hook_ms, 1..=DAY_MS),
        ("approval_ms", limits.approval_ms.unwrap_or(LONG_MS), 1..=LONG_MS),
    ];
    for (name, value, range) in numbers {
        within(name, value, range)?;
    }
    let pauses = limits.tool_retry_ms.len();
    if !(1..=MOST_REPEATS).contains(&pauses) {
        return Err(BadSettings::Repeats { pauses });
    }
    limits.tool_retry_ms.iter().try_for_each(|ms| within("tool_retry_ms", *ms, 0..=DAY_MS))
}

fn check_times(times: &Times) -> Result<(), BadSettings> {
    let Times { soft_ms, hard_ms, grace_ms } = *times;
    within("hard_ms", hard_ms, 1..=7 * DAY_MS)?;
    within("grace_ms", grace_ms, 0..=DAY_MS)?;
    if soft_ms < hard_ms { Ok(()) } else { Err(BadSettings::Times { soft_ms, hard_ms }) }
}
