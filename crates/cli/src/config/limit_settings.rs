//! Limits and budgets: the defaults, then the profile, then flags. A mechanism can be configured,
//! but not switched off.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use serde::{Serialize, de::DeserializeOwned};
use windlass::core::budget::spending::{CapAction, CapCheck, SpendingCaps};
use windlass::core::guard::completion_gate::ChecklistItem;
use windlass::core::settings::conversation_settings::Settings;

use super::config_toml::ProfileConfig;
use super::tool_search;
use crate::args::LimitArgs;
use crate::{sdk, toolset};

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

/// Applies a profile and flags to the settings.
pub(crate) fn apply_limits(
    settings: &mut Settings,
    profile: &ProfileConfig,
    args: &LimitArgs,
) -> anyhow::Result<()> {
    settings.limits = overlay(&settings.limits, &to_json_table(&profile.limits)?, "limit")?;
    let times = settings.times.unwrap_or_default();
    settings.times = Some(overlay(&times, &to_json_table(&profile.times)?, "time")?);
    validate_window(&profile.window)?;
    settings.window =
        overlay(&settings.window, &to_json_table(&profile.window)?, "window setting")?;
    settings.durability = profile.durability.unwrap_or_default();
    settings.resume = profile.resume.unwrap_or_default();
    if let Some(percent) = tool_search::schema_percent()? {
        settings.limits.tool_schema_percent = percent;
    }
    let mut set = parse_set_args(&args.set)?;
    if let Some(mode) = set.remove(DURABILITY_KEY) {
        let durability = serde_json::from_value(mode.clone());
        settings.durability = durability
            .map_err(|_| anyhow::anyhow!("invalid durability {mode}; use scheduled or strict"))?;
    }
    let set = overlay(&settings.limits, &set, "limit");
    settings.limits = set.map_err(|error| anyhow::anyhow!("--set: {error}"))?;
    if let Some(rounds) = args.max_turns {
        settings.limits = settings.limits.clone().with_tool_rounds(rounds);
    }
    if sdk::is_sdk_host() {
        // The SDKs count replies, and expect the results of the last one.
        settings.limits.model_replies = args.max_turns;
        sdk::apply_limits(&mut settings.limits);
        // They expect a run to go on until its budget is spent.
        settings.budget.run_usd_check = CapCheck::AfterReply;
    }
    settings.profile = Arc::from(args.profile.as_deref().unwrap_or("default"));
    settings.budget.run = SpendingCaps {
        tokens: args.max_budget_tokens.or(profile.budget_tokens),
        usd_micros: to_usd_micros(args.max_budget_usd.or(profile.budget_usd))?,
    };
    settings.budget.call = SpendingCaps {
        tokens: args.max_call_budget_tokens.or(profile.call_budget_tokens),
        usd_micros: to_usd_micros(args.max_call_budget_usd.or(profile.call_budget_usd))?,
    };
    settings.budget.conversation = SpendingCaps {
        tokens: args.max_conversation_budget_tokens.or(profile.conversation_budget_tokens),
        usd_micros: to_usd_micros(
            args.max_conversation_budget_usd.or(profile.conversation_budget_usd),
        )?,
    };
    settings.budget.profile.caps = SpendingCaps {
        tokens: profile.profile_budget_tokens,
        usd_micros: to_usd_micros(profile.profile_budget_usd)?,
    };
    settings.budget.profile.period = profile.profile_budget_period;
    if profile.ask_at_cap {
        settings.budget.at_cap = CapAction::Ask;
    }
    settings.budget.unpriced = profile.unpriced;
    let named = |tool: &String| Arc::from(toolset::canonical_tool_name(tool));
    let need = |(tool, at_least): (&String, &u32)| ChecklistItem {
        tool: named(tool),
        at_least: *at_least,
    };
    settings.gate.checklist = profile.checklist.iter().map(need).collect();
    settings.gate.command = profile.gate_command.as_deref().map(Arc::from);
    settings.gate.judge = profile.gate_judge.as_deref().map(Arc::from);
    settings.guards.exempt = profile.exempt_tools.iter().map(named).collect();
    settings.guards.lookup_tool = profile.lookup_tool.as_ref().map(named);
    if let Some(tool) = &profile.ask_tool {
        settings.guards.ask_tool = named(tool);
    }
    Ok(settings.validate()?)
}

/// The one setting of `--set` that is not a limit.
const DURABILITY_KEY: &str = "durability";

/// Checks a profile's window settings: it may set the thresholds of compaction, but not switch its
/// mechanisms off.
fn validate_window(window: &BTreeMap<String, toml::Value>) -> anyhow::Result<()> {
    let stage = ["snip", "micro", "collapse", "auto"].into_iter().find(|s| window.contains_key(*s));
    if let Some(stage) = stage {
        bail!("a profile cannot change window.{stage}; it can set window.thresholds");
    }
    Ok(())
}

fn to_usd_micros(usd: Option<f64>) -> anyhow::Result<Option<u64>> {
    usd.map(usd_to_micros).transpose()
}

/// Converts dollars to micro-dollars.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a number that fits"
)]
fn usd_to_micros(usd: f64) -> anyhow::Result<u64> {
    if !usd.is_finite() || usd <= 0.0 || usd > 1e9 {
        bail!("{usd} is not a valid budget; give dollars above 0, such as 0.50");
    }
    Ok((usd * MICROS_PER_USD).round() as u64)
}

type LimitValues = BTreeMap<String, serde_json::Value>;

fn to_json_table(table: &BTreeMap<String, toml::Value>) -> anyhow::Result<LimitValues> {
    let value =
        |(name, value): (&String, &toml::Value)| Ok((name.clone(), serde_json::to_value(value)?));
    table.iter().map(value).collect()
}

/// Parses `name=value` as typed.
fn parse_set_args(set: &[String]) -> anyhow::Result<LimitValues> {
    let mut values = LimitValues::new();
    for pair in set {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("`{pair}` is not NAME=VALUE; write for example --set tool_rounds=20");
        };
        let value = match (name.trim(), serde_json::from_str(value.trim())) {
            (_, Ok(value)) => value,
            (DURABILITY_KEY, Err(_)) => value.trim().into(),
            (_, Err(_)) => bail!(
                "`{value}` is not a valid value for {name}; give a number, or a list such as [500, 2000]"
            ),
        };
        values.insert(name.trim().to_owned(), value);
    }
    Ok(values)
}

/// Replaces some values of a table; an unknown name is an error.
fn overlay<T: Serialize + DeserializeOwned>(
    base: &T,
    values: &LimitValues,
    what: &str,
) -> anyhow::Result<T> {
    let base = serde_json::to_value(base)?;
    let read = |values: LimitValues| {
        let mut table = base.clone();
        if let Some(table) = table.as_object_mut() {
            table.extend(values);
        }
        serde_json::from_value::<T>(table).map_err(|error| error.to_string())
    };
    read(values.clone()).or_else(|error| match error.strip_prefix("unknown field ") {
        // Only the type knows all names: values that equal the default are not serialized.
        Some(named) => {
            let text = named.replace('`', "").replacen(", expected one of", "; available:", 1);
            bail!("unknown {what} {text}")
        }
        None => {
            let alone = |(name, value): (&String, &serde_json::Value)| {
                LimitValues::from_iter([(name.clone(), value.clone())])
            };
            let wrong = values.iter().find(|value| read(alone(*value)).is_err());
            let (name, value) =
                wrong.map_or((what, String::new()), |(name, value)| (name, value.to_string()));
            bail!("`{value}` is not a valid value for {name}: {error}")
        }
    })
}
