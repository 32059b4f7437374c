//! Permission rules, mode and approver, from flags and settings files.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use windlass::core::permission::{
    HumanAvailability, InvalidRule, PermissionMode, PermissionRule, Permissions,
};
use windlass::process_rights;

use crate::args::{OutputFormat, PermissionArgs, WhenAsked};
use crate::config::claude::settings_check::{RuleListKind, SettingsFindings};
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::paths;
use crate::config::sandbox_level::LevelChoice;
use crate::{messages, terminal, toolset};

/// Builds the permissions of a conversation in `workspace`.
pub(crate) fn build_permissions(
    args: &PermissionArgs,
    sources: &[SettingsSource],
    (workspace, level): (&Path, &LevelChoice),
    when_asked: WhenAsked,
) -> anyhow::Result<Permissions> {
    let mut permissions = Permissions {
        root: Arc::from(workspace.to_string_lossy()),
        home: paths::home_folder()
            .map_or_else(|| Arc::from(""), |home| Arc::from(home.to_string_lossy())),
        human: match when_asked {
            WhenAsked::Prompt | WhenAsked::Park => HumanAvailability::Available,
            WhenAsked::Deny => HumanAvailability::Absent,
        },
        ..Permissions::default()
    };
    validate_flags(args)?;
    for source in sources {
        permissions.allow.extend(parse_rules(&source.permissions.allow)?);
        permissions.ask.extend(parse_rules(&source.permissions.ask)?);
        permissions.deny.extend(parse_rules(&source.permissions.deny)?);
    }
    permissions.allow.extend(parse_rules(&split_rule_lists(&args.allow))?);
    permissions.disallowed.extend(parse_rules(&split_rule_lists(&args.deny))?);
    permissions.mode = select_mode(args, sources)?;
    level.check_mode(permissions.mode)?;
    permissions.confinement = level.confinement;
    Ok(permissions)
}

/// Checks rules given as flags in the same way as those of files.
fn validate_flags(args: &PermissionArgs) -> anyhow::Result<()> {
    let mut findings = SettingsFindings::default();
    findings.check_rules(&split_rule_lists(&args.allow), RuleListKind::Allow);
    findings.check_rules(&split_rule_lists(&args.deny), RuleListKind::Restrict);
    if let Some(error) = findings.errors.first() {
        bail!("{error}");
    }
    match findings.warnings.first() {
        Some(warning) if args.strict_settings => bail!("{warning} (--strict-settings)"),
        _ => findings
            .warnings
            .iter()
            .for_each(|warning| terminal::print_note(&messages::warning(warning))),
    }
    Ok(())
}

fn parse_rules(rules: &[String]) -> anyhow::Result<Vec<PermissionRule>> {
    Ok(rules.iter().map(|rule| parse_rule(rule)).collect::<Result<_, _>>()?)
}

/// Parses a rule, with the canonical name of its tool.
pub(crate) fn parse_rule(rule: &str) -> Result<PermissionRule, InvalidRule> {
    PermissionRule::parse(&with_canonical_tool(rule))
}

/// Returns whether a rule is for this tool, with any pattern in its brackets.
pub(crate) fn is_for(rule: &str, tool: &str) -> bool {
    parse_rule(rule).is_ok_and(|rule| rule.covers_tool(tool))
}

/// The tool that a rule names, by its canonical name.
pub(crate) fn rule_tool(rule: &str) -> &str {
    let tool = rule.split('(').next().unwrap_or(rule).trim();
    toolset::canonical_tool_name(tool)
}

/// The rule with the canonical name of its tool.
fn with_canonical_tool(rule: &str) -> String {
    let at = rule.find('(').unwrap_or(rule.len());
    let (tool, scope) = rule.split_at(at);
    format!("{}{scope}", toolset::canonical_tool_name(tool.trim()))
}

/// Splits a list of rules as a page has it, with or without brackets and quotes.
pub(crate) fn split_list(list: &str) -> Vec<String> {
    let list = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(list);
    let unquoted = |rule: String| rule.trim_matches(['"', '\'']).to_owned();
    split_rules(list).into_iter().map(unquoted).collect()
}

/// Splits rules at commas or spaces outside brackets.
fn split_rule_lists(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| split_rules(list)).collect()
}

fn split_rules(list: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_usize;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let separates = depth == 0 && (c == ',' || c.is_whitespace());
        match rules.last_mut() {
            Some(last) if !separates => last.push(c),
            Some(_) | None => rules.push(String::new()),
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

fn select_mode(
    args: &PermissionArgs,
    sources: &[SettingsSource],
) -> anyhow::Result<PermissionMode> {
    let named = args.permission_mode.as_deref();
    let by_file = sources.iter().rev().find_map(|s| s.permissions.default_mode.as_deref());
    let mode = match named.or(by_file) {
        _ if args.dangerously_skip_permissions => PermissionMode::BypassPermissions,
        None => PermissionMode::Default,
        Some(name) => parse_mode(name)?,
    };
    let disabled = sources.iter().map(|s| s.permissions.disable_bypass_permissions_mode.as_deref());
    if mode == PermissionMode::BypassPermissions
        && disabled.flatten().any(|value| value == "disable")
    {
        bail!(
            "the settings forbid bypassPermissions (disableBypassPermissionsMode); use another mode"
        );
    }
    Ok(mode.validate(process_rights())?)
}

pub(crate) fn parse_mode(name: &str) -> anyhow::Result<PermissionMode> {
    Ok(match name {
        "default" | "manual" => PermissionMode::Default,
        "acceptEdits" => PermissionMode::AcceptEdits,
        "plan" => PermissionMode::Plan,
        "plan:none" => PermissionMode::PlanNone,
        "dontAsk" => PermissionMode::DontAsk,
        "auto" => PermissionMode::Auto,
        "bypassPermissions" => PermissionMode::BypassPermissions,
        _ => bail!(
            "unknown permission mode `{name}`; use default, acceptEdits, plan, plan:none, dontAsk, auto \
             or bypassPermissions"
        ),
    })
}

/// The name of a mode, as it is typed.
pub(crate) fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::PlanNone => "plan:none",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::Auto => "auto",
        PermissionMode::BypassPermissions => "bypassPermissions",
    }
}

/// How approvals are handled: as given, else by prompting at a terminal, else calls are denied.
pub(crate) fn resolve_when_asked(args: &PermissionArgs, format: OutputFormat) -> WhenAsked {
    let seated = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    args.when_asked.unwrap_or(match (format, seated) {
        (OutputFormat::Text, true) => WhenAsked::Prompt,
        (OutputFormat::Text | OutputFormat::Json | OutputFormat::StreamJson, _) => WhenAsked::Deny,
    })
}
