//! Flags of limits and budgets.

use clap::Args as ClapArgs;

use super::values::{parse_dollars, parse_tokens, parse_turns};

/// How much it may take.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop the run after N rounds of tool calls [default: 50]; a run also wraps up after 15 minutes
    /// of work and is ended after 20 (`times` of a profile in config.toml)
    #[arg(long, value_name = "N", value_parser = parse_turns)]
    pub(crate) max_turns: Option<u32>,
    /// Limit the cost of one run, in dollars [default: no limit]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = parse_dollars)]
    pub(crate) max_budget_usd: Option<f64>,
    /// Limit the tokens of one run [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    pub(crate) max_budget_tokens: Option<u64>,
    /// Limit the cost of one model call, in dollars [default: no limit]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = parse_dollars)]
    pub(crate) max_call_budget_usd: Option<f64>,
    /// Limit the tokens of one model call [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    pub(crate) max_call_budget_tokens: Option<u64>,
    /// Limit the cost of all runs of the conversation together, in dollars [default: no limit]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = parse_dollars)]
    pub(crate) max_conversation_budget_usd: Option<f64>,
    /// Limit the tokens of all runs of the conversation together [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    pub(crate) max_conversation_budget_tokens: Option<u64>,
    /// Use this profile: `default`, `builder`, `router`, or one of config.toml [default: default]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Set one limit, such as `tool_rounds=20`, `parallel_calls=2`, `early_calls=0` (no tool runs before
    /// its reply is complete) or `durability=strict`; may be given several times
    #[arg(long = "set", value_name = "LIMIT=VALUE")]
    pub(crate) set: Vec<String>,
}
