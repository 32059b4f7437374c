//! `windlass mcp`: adds, lists and removes MCP servers.

mod change_servers;
mod login;
mod serve;
mod show_servers;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::args::{McpCommand, PermissionArgs};
use crate::config::mcp::approval_file;
use crate::config::paths;
use crate::config::trust::folder_trust::FolderTrust;
use crate::{messages, terminal};

pub(crate) async fn run(command: McpCommand) -> anyhow::Result<ExitCode> {
    match command {
        McpCommand::Add(args) => change_servers::add(&args),
        McpCommand::AddJson { name, json, scope } => change_servers::add_json(&name, &json, scope),
        McpCommand::List { servers, json } => show_servers::list(&servers, json).await,
        McpCommand::Get { name, servers, json } => show_servers::get(&name, &servers, json).await,
        McpCommand::Login { name, servers } => login::login(&name, &servers).await,
        McpCommand::Logout { name, servers } => login::logout(&name, &servers),
        McpCommand::Remove { name, scope } => change_servers::remove(&name, scope),
        McpCommand::ResetApprovals { name } => reset_approvals(name.as_deref()),
        McpCommand::Serve(args) => Box::pin(serve::run(*args)).await,
    }
}

fn reset_approvals(name: Option<&str>) -> anyhow::Result<ExitCode> {
    let count = approval_file::reset(&here()?, name)?;
    terminal::print_line(&messages::mcp_approvals_reset(count, name));
    Ok(ExitCode::SUCCESS)
}

/// The folder that the command is about.
fn here() -> anyhow::Result<PathBuf> {
    paths::resolve_folder(&PathBuf::from("."), "windlass mcp")
}

/// The trust of the folder that the command is about.
fn trust_here() -> anyhow::Result<FolderTrust> {
    FolderTrust::load(&here()?, |_| true)
}

/// All settings sources count.
fn all_sources() -> PermissionArgs {
    PermissionArgs { workspace: PathBuf::from("."), ..PermissionArgs::default() }
}
