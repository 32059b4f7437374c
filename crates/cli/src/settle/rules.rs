//! What may run: flags and files become one list of rules, a mode, and somebody to ask.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use windlass::core::permission::{BadRule, Human, Mode, Permissions, Rule};
use windlass::process_rights;

use super::paths;
use super::settings_check::{RuleList, SettingsFindings};
use super::sources::Source;
use crate::args::{OutputFormat, PermissionArgs, WhenAsked};
use crate::{show, toolset, words};

/// The permissions of a conversation in `workspace`.
pub(crate) fn permissions(
    args: &PermissionArgs,
    sources: &[Source],
    workspace: &Path,
    when_asked: WhenAsked,
) -> anyhow::Result<Permissions> {
    let mut permissions = Permissions {
        root: Arc::from(workspace.to_string_lossy()),
        home: paths::home().map_or_else(|| Arc::from(""), |home| Arc::from(home.to_string_lossy())),
        human: match when_asked {
            WhenAsked::Prompt | WhenAsked::Park => Human::Reachable,
            WhenAsked::Deny => Human::Absent,
        },
        ..Permissions::default()
    };
    check_flags(args)?;
    for source in sources {
        permissions.allow.extend(read(&source.permissions.allow)?);
        permissions.ask.extend(read(&source.permissions.ask)?);
        permissions.deny.extend(read(&source.permissions.deny)?);
    }
    permissions.allow.extend(read(&split_all(&args.allow))?);
    permissions.disallowed.extend(read(&split_all(&args.deny))?);
    permissions.mode = mode(args, sources)?;
    Ok(permissions)
}

/// Rules given as flags are judged as those of files are.
fn check_flags(args: &PermissionArgs) -> anyhow::Result<()> {
    let mut findings = SettingsFindings::default();
    findings.rules(&split_all(&args.allow), RuleList::Allow);
    findings.rules(&split_all(&args.deny), RuleList::HoldBack);
    if let Some(error) = findings.errors.first() {
        bail!("{error}");
    }
    match findings.warnings.first() {
        Some(warning) if args.strict_settings => bail!("{warning} (--strict-settings)"),
        _ => findings.warnings.iter().for_each(|warning| show::note(&words::problem(warning))),
    }
    Ok(())
}

fn read(rules: &[String]) -> anyhow::Result<Vec<Rule>> {
    Ok(rules.iter().map(|rule| parse(rule)).collect::<Result<_, _>>()?)
}

/// A rule, with the name that its tool has here.
pub(super) fn parse(rule: &str) -> Result<Rule, BadRule> {
    Rule::parse(&by_name(rule))
}

/// Whether a rule is for this tool, whatever stands in its brackets.
pub(crate) fn is_for(rule: &str, tool: &str) -> bool {
    parse(rule).is_ok_and(|rule| rule.names(tool))
}

/// The tool that a rule names, by the name that it has here.
pub(crate) fn tool_of(rule: &str) -> &str {
    let tool = rule.split('(').next().unwrap_or(rule).trim();
    toolset::called(tool)
}

/// The rule with the name that its tool has here.
fn by_name(rule: &str) -> String {
    let at = rule.find('(').unwrap_or(rule.len());
    let (tool, scope) = rule.split_at(at);
    format!("{}{scope}", toolset::called(tool.trim()))
}

/// The rules of a list as a page has it, in brackets and quotes or without.
pub(super) fn split_list(list: &str) -> Vec<String> {
    let list = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(list);
    let unquoted = |rule: String| rule.trim_matches(['"', '\'']).to_owned();
    split(list).into_iter().map(unquoted).collect()
}

/// Rules are separated by commas or spaces outside brackets.
fn split_all(lists: &[String]) -> Vec<String> {
    lists.iter().flat_map(|list| split(list)).collect()
}

fn split(list: &str) -> Vec<String> {
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

fn mode(args: &PermissionArgs, sources: &[Source]) -> anyhow::Result<Mode> {
    let named = args.permission_mode.as_deref();
    let by_file = sources.iter().rev().find_map(|s| s.permissions.default_mode.as_deref());
    let mode = match named.or(by_file) {
        _ if args.dangerously_skip_permissions => Mode::BypassPermissions,
        None => Mode::Default,
        Some(name) => read_mode(name)?,
    };
    let disabled = sources.iter().map(|s| s.permissions.disable_bypass_permissions_mode.as_deref());
    if mode == Mode::BypassPermissions && disabled.flatten().any(|value| value == "disable") {
        bail!(
            "the settings forbid bypassPermissions (disableBypassPermissionsMode); use another mode"
        );
    }
    Ok(mode.checked(process_rights())?)
}

pub(super) fn read_mode(name: &str) -> anyhow::Result<Mode> {
    Ok(match name {
        "default" | "manual" => Mode::Default,
        "acceptEdits" => Mode::AcceptEdits,
        "plan" => Mode::Plan,
        "plan:none" => Mode::PlanNone,
        "dontAsk" => Mode::DontAsk,
        "auto" => Mode::Auto,
        "bypassPermissions" => Mode::BypassPermissions,
        _ => bail!(
            "unknown permission mode `{name}`; use default, acceptEdits, plan, plan:none, dontAsk, auto \
             or bypassPermissions"
        ),
    })
}

/// Who is asked: as said, else whoever sits at the terminal, else nobody.
pub(crate) fn who_is_asked(args: &PermissionArgs, format: OutputFormat) -> WhenAsked {
    let seated = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    args.when_asked.unwrap_or(match (format, seated) {
        (OutputFormat::Text, true) => WhenAsked::Prompt,
        (OutputFormat::Text | OutputFormat::Json | OutputFormat::StreamJson, _) => WhenAsked::Deny,
    })
}
