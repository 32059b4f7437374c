//! Validation of settings: the range of every number. A mechanism can be set within its range; none
//! can be switched off by a number, and none can be set so high that it never acts.
//!
//! Not here: settings that were recorded. They were validated when they were loaded, and an old log
//! is folded with whatever it contains.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::context::{InvalidThresholds, Summariser};
use crate::guard::completion_gate::ChecklistItem;
use crate::log::ids::UnixMillis;
use crate::settings::conversation_settings::{DEFAULT_ASK_TOOL, ModelSpec, Settings};
use crate::settings::limits::{Limits, RunTimeLimits};

/// The longest pause or wait.
const MAX_WAIT_MS: u64 = 30 * UnixMillis::DAY_MS;

/// Maximum retries of one call.
const MAX_TOOL_RETRIES: usize = 10;

/// Settings that are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    /// A number outside of its range.
    #[error("{name} is {value}; it must be between {least} and {most}")]
    OutOfRange {
        /// Name of the setting.
        name: Arc<str>,
        /// Value of the setting.
        value: u64,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// Thresholds of the window that contradict each other.
    #[error(transparent)]
    Thresholds(#[from] InvalidThresholds),
    /// Time limits are missing.
    #[error("no time limit is set; set soft_ms and hard_ms")]
    MissingTimeLimits,
    /// The soft limit is not below the hard limit.
    #[error("soft_ms ({soft_ms}) must be smaller than hard_ms ({hard_ms})")]
    TimeLimitOrder {
        /// The soft limit.
        soft_ms: u64,
        /// The hard limit.
        hard_ms: u64,
    },
    /// A named tool is not offered.
    #[error("{what} names the unknown tool {tool}; available tools: {offered}")]
    UnknownTool {
        /// The setting that names the tool.
        what: &'static str,
        /// Name of the tool.
        tool: Arc<str>,
        /// The offered tools.
        offered: Arc<str>,
    },
    /// Too many pauses, or none.
    #[error(
        "tool_retry_ms has {pauses} entries; give 1 to {MAX_TOOL_RETRIES}, such as [500, 2000, 8000]"
    )]
    ToolRetryCount {
        /// Number of pauses.
        pauses: usize,
    },
}

impl Settings {
    /// Validates every number and their combination. Called once when settings are loaded.
    pub fn validate(&self) -> Result<(), InvalidSettings> {
        let others = match &self.window.summariser {
            Summariser::Model(model) => Some(model),
            Summariser::OwnModel | Summariser::Off => None,
        };
        for model in [&self.model].into_iter().chain(self.fallbacks()).chain(others) {
            check_model(model)?;
        }
        self.window.thresholds.validate()?;
        check_limits(&self.limits)?;
        self.times.as_ref().map_or(Err(InvalidSettings::MissingTimeLimits), check_times)
    }
}

impl Settings {
    /// Checks that the tools named by the settings are offered: a checklist with a typo would
    /// reject every answer. Called once the tools are known.
    pub fn check_tool_names(&self) -> Result<(), InvalidSettings> {
        let checklist = self.gate.checklist.iter().flat_map(ChecklistItem::tools);
        let checklist = checklist.map(|tool| ("the checklist", tool));
        let exempt = self.guards.exempt.iter().map(|tool| ("exempt_tools", &**tool));
        let lookup = self.guards.lookup_tool.iter().map(|tool| ("lookup_tool", &**tool));
        // The default tool need not be offered; an explicitly named one must be.
        let ask = Some(&*self.guards.ask_tool).filter(|tool| *tool != DEFAULT_ASK_TOOL);
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
                Err(InvalidSettings::UnknownTool { what, tool: Arc::from(tool), offered })
            }
        }
    }
}

fn check_range(name: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), InvalidSettings> {
    let (least, most) = (*range.start(), *range.end());
    let bad = || InvalidSettings::OutOfRange { name: Arc::from(name), value, least, most };
    if range.contains(&value) { Ok(()) } else { Err(bad()) }
}

fn check_model(model: &ModelSpec) -> Result<(), InvalidSettings> {
    let of = |what: &str| format!("{what} of the model {}", model.name);
    check_range(&of("window_tokens"), model.window_tokens, 1_000..=1_000_000_000)?;
    check_range(&of("max_tokens"), model.max_tokens, 1..=1_000_000_000)?;
    check_range(&of("max_output_tokens"), model.max_output_tokens, 1..=1_000_000_000)
}

fn check_limits(limits: &Limits) -> Result<(), InvalidSettings> {
    // A loop that is longer than the examined window would never be detected.
    let window = u64::from(limits.loop_window_calls.max(2));
    let numbers: [(&str, u64, RangeInclusive<u64>); 36] = [
        ("tool_rounds", limits.tool_rounds.into(), 1..=10_000),
        ("model_calls", limits.model_calls.into(), 1..=100_000),
        ("model_replies", limits.model_replies.unwrap_or(1).into(), 1..=100_000),
        ("run_tokens", limits.run_tokens.unwrap_or(u64::MAX), 1..=u64::MAX),
        ("least_output_tokens", limits.least_output_tokens, 1..=1_000_000),
        ("parallel_calls", limits.parallel_calls.into(), 1..=1_024),
        ("early_calls", limits.early_calls.into(), 0..=1_024),
        ("calls_per_reply", limits.calls_per_reply.into(), 1..=4_096),
        ("result_chars", limits.result_chars, 100..=10_000_000),
        ("queued_prompts", limits.queued_prompts.into(), 1..=10_000),
        ("waiting_steers", limits.waiting_steers.into(), 1..=10_000),
        ("model_retry_ms", limits.model_retry_ms, 1..=UnixMillis::DAY_MS),
        ("model_retry_most_ms", limits.model_retry_most_ms, 1..=UnixMillis::DAY_MS),
        ("model_retries", limits.model_retries.into(), 1..=1_000),
        ("fallback_failures", limits.fallback_failures.into(), 1..=1_000),
        ("truncations", limits.truncations.into(), 1..=100),
        ("reprompts", limits.reprompts.into(), 1..=100),
        ("kept_messages", limits.kept_messages.into(), 1..=100),
        ("sliding_messages", limits.sliding_messages.into(), 2..=100_000),
        ("cancel_wait_ms", limits.cancel_wait_ms, 1..=MAX_WAIT_MS),
        ("provider_wait_ms", limits.provider_wait_ms, 0..=MAX_WAIT_MS),
        ("answer_wait_ms", limits.answer_wait_ms, 0..=MAX_WAIT_MS),
        ("local_wait_ms", limits.local_wait_ms, 0..=MAX_WAIT_MS),
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
        ("tool_schema_percent", limits.tool_schema_percent.into(), 0..=100),
        ("hook_ms", limits.hook_ms, 1..=UnixMillis::DAY_MS),
        ("approval_ms", limits.approval_ms.unwrap_or(MAX_WAIT_MS), 1..=MAX_WAIT_MS),
    ];
    for (name, value, range) in numbers {
        check_range(name, value, range)?;
    }
    let pauses = limits.tool_retry_ms.len();
    if !(1..=MAX_TOOL_RETRIES).contains(&pauses) {
        return Err(InvalidSettings::ToolRetryCount { pauses });
    }
    limits
        .tool_retry_ms
        .iter()
        .try_for_each(|ms| check_range("tool_retry_ms", *ms, 0..=UnixMillis::DAY_MS))
}

fn check_times(times: &RunTimeLimits) -> Result<(), InvalidSettings> {
    let RunTimeLimits { soft_ms, hard_ms, grace_ms } = *times;
    check_range("hard_ms", hard_ms, 1..=7 * UnixMillis::DAY_MS)?;
    check_range("grace_ms", grace_ms, 0..=UnixMillis::DAY_MS)?;
    if soft_ms < hard_ms {
        Ok(())
    } else {
        Err(InvalidSettings::TimeLimitOrder { soft_ms, hard_ms })
    }
}
