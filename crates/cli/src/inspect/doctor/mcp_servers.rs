//! Checks of MCP servers: each is connected as a run would connect it.

use std::path::Path;
use std::sync::Arc;

use windlass::SystemClock;
use windlass::mcp::ServerState;
use windlass::ports::Clock;

use super::DoctorCheck;
use crate::args::{McpArgs, PermissionArgs, StoreArgs};
use crate::config::mcp::server_list;
use crate::config::trust::folder_trust::FolderTrust;
use crate::messages::{self, report};
use crate::setup::{self, mcp_servers};
use crate::terminal::sanitize_text;

/// Connects to every server that runs in this folder would have.
pub(super) async fn check(store: &StoreArgs) -> Vec<DoctorCheck> {
    // A folder that cannot be read is reported with its settings.
    let Ok(here) = Path::new(".").canonicalize() else { return Vec::new() };
    let Ok(folder) = FolderTrust::load(&here, |_| true) else { return Vec::new() };
    let flags = (&McpArgs::default(), &PermissionArgs::default());
    let configured = match server_list::configured_servers(flags, &folder) {
        Ok(configured) => configured,
        Err(error) => return vec![DoctorCheck::broken("mcp", format!("{error:#}"))],
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    // A configuration that cannot be read is reported with its files.
    let Ok(launcher) = setup::launcher_here(store) else { return Vec::new() };
    let servers =
        mcp_servers::start_servers(&configured, Vec::new(), &folder.folder, (&clock, &launcher));
    mcp_servers::wait_until_settled(&servers).await;
    let mut checks = Vec::new();
    let file = folder.folder.join(".mcp.json");
    if file.exists() {
        let line = report::doctor::path_status("MCP servers", &file);
        checks.push(DoctorCheck::ok("path", line));
    }
    for server in servers.list() {
        let line = sanitize_text(&messages::mcp_server_line(&server));
        checks.push(match server.state() {
            ServerState::Connected(_) => DoctorCheck::ok("mcp", line),
            // Runs go on without the server.
            ServerState::Failed(_) | ServerState::Pending | ServerState::Disabled => {
                DoctorCheck::note("mcp", line)
            }
        });
        let withheld = server.withheld();
        if !withheld.is_empty() {
            let text = messages::mcp_tools_withheld(server.name(), &withheld);
            checks.push(DoctorCheck::note("mcp", sanitize_text(&text)));
        }
    }
    checks
}
