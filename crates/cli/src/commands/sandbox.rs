//! `windlass sandbox explain`: prints what confines the commands of a folder, and what they may
//! touch.

use std::process::ExitCode;

use windlass_sandbox::{SandboxLauncher, SandboxLevel};

use crate::args::inspect_args::{SandboxCommand, SandboxExplainArgs};
use crate::config::sandbox_settings::SandboxChoice;
use crate::{messages, setup, terminal};

pub(crate) async fn run(command: &SandboxCommand) -> anyhow::Result<ExitCode> {
    match command {
        SandboxCommand::Explain(args) => explain(args).await,
    }
}

async fn explain(args: &SandboxExplainArgs) -> anyhow::Result<ExitCode> {
    let choice = setup::sandbox_of_folder(&args.permissions, &args.store)?;
    let reached = match &choice.policy {
        Some(policy) => Some(SandboxLauncher::new(policy.clone()).probe().await),
        None => None,
    };
    let print = |line: &str| terminal::print_line(&terminal::sanitize_text(line));
    if !args.command.is_empty() {
        print(&messages::sandbox::command_line(&args.command.join(" ")));
    }
    print(&messages::sandbox::level_line(choice.level.level.name(), choice.level.decided_by));
    match &reached {
        None => {}
        Some(Ok(mechanism)) => print(&messages::sandbox::mechanism_line(&mechanism.describe())),
        Some(Err(error)) => print(&messages::sandbox::unavailable_line(error)),
    }
    policy_lines(&choice).iter().for_each(|line| print(line));
    Ok(match (choice.level.level, reached) {
        (SandboxLevel::Off, _) | (_, Some(Ok(_))) => ExitCode::SUCCESS,
        (_, Some(Err(_)) | None) => ExitCode::FAILURE,
    })
}

fn policy_lines(choice: &SandboxChoice) -> Vec<String> {
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
