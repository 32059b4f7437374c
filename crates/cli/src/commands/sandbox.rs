//! `windlass sandbox explain`: prints what confines the commands of a folder, and what they may
//! touch.

use std::process::ExitCode;

use windlass::core::permission::{
    CallEffect, CallSubject, HookPreference, PermissionQuery, reads_in_sandbox,
};
use windlass::tools::analyze_command;
use windlass_sandbox::{SandboxLauncher, SandboxLevel};

use crate::args::inspect_args::{SandboxCommand, SandboxExplainArgs};
use crate::config::sandbox_settings::SandboxChoice;
use crate::setup::FolderSandbox;
use crate::{messages, setup, terminal};

pub(crate) async fn run(command: &SandboxCommand) -> anyhow::Result<ExitCode> {
    match command {
        SandboxCommand::Explain(args) => explain(args).await,
    }
}

async fn explain(args: &SandboxExplainArgs) -> anyhow::Result<ExitCode> {
    let folder = setup::sandbox_of_folder(&args.permissions, &args.store)?;
    let choice = &folder.choice;
    let reached = match &choice.policy {
        Some(policy) => Some(SandboxLauncher::new(policy.clone()).probe().await),
        None => None,
    };
    let print = |line: &str| terminal::print_line(&terminal::sanitize_text(line));
    if !args.command.is_empty() {
        command_lines(&folder, &args.command.join(" ")).iter().for_each(|line| print(line));
    }
    print(&messages::sandbox::level_line(choice.level.level.name(), choice.level.decided_by));
    match &reached {
        None => {}
        Some(Ok(mechanism)) => print(&messages::sandbox::mechanism_line(&mechanism.describe())),
        Some(Err(error)) => print(&messages::sandbox::unavailable_line(error)),
    }
    policy_lines(choice).iter().for_each(|line| print(line));
    Ok(match (choice.level.level, reached) {
        (SandboxLevel::Off, _) | (_, Some(Ok(_))) => ExitCode::SUCCESS,
        (_, Some(Err(_)) | None) => ExitCode::FAILURE,
    })
}

/// Returns what happens to a command: whether it is asked about, and what it may do.
pub(crate) fn command_lines(folder: &FolderSandbox, command: &str) -> Vec<String> {
    let shell = analyze_command(command, &folder.zones);
    let only_reads = folder.choice.policy.is_some() && reads_in_sandbox(&shell);
    let subject = CallSubject::from(shell);
    let decision = folder.rules.evaluate_rules(PermissionQuery {
        tool: "Bash",
        subject: &subject,
        effect: CallEffect::MayChange,
        preference: HookPreference::Neutral,
        grants: &[],
    });
    let mut lines = vec![messages::sandbox::command_line(command)];
    lines.push(messages::sandbox::decision_line(&decision));
    lines.extend(only_reads.then(|| messages::sandbox::ONLY_READS.to_owned()));
    lines
}

/// Returns what commands may touch.
pub(crate) fn policy_lines(choice: &SandboxChoice) -> Vec<String> {
    let Some(policy) = &choice.policy else {
        return vec![messages::sandbox::UNCONFINED.to_owned()];
    };
    let lists = [
        (messages::sandbox::WRITE, &policy.write),
        (messages::sandbox::PROTECT, &policy.protect),
        (messages::sandbox::DENY_READ, &policy.deny_read),
    ];
    let mut lines = vec![messages::sandbox::network_line(policy)];
    for (heading, paths) in lists {
        lines.push(heading.to_owned());
        lines.extend(paths.iter().map(|path| format!("  {}", path.display())));
        if paths.is_empty() {
            lines.push("  (none)".to_owned());
        }
    }
    lines
}
