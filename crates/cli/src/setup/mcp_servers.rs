//! Starts the MCP servers of a process.

use std::path::Path;
use std::sync::{Arc, Weak};

use windlass::ToolRegistry;
use windlass::core::settings::conversation_settings::Settings;
use windlass::mcp::{
    HttpAuthorization, ListResourcesTool, LoginStore, ManagedServer, McpError, McpServerConfig,
    McpServers, McpServices, OAuthAuthorization, OAuthClient, ReadResourceTool, ServerSpec,
    ServerState, ServerTools, SpecOptions, TransportConfig,
};
use windlass::messages::McpServerStatus;
use windlass::ports::{Clock, ProcessLauncher};
use windlass::tools::ToolContext;

use super::ModelNeed;
use crate::args::AgentArgs;
use crate::config::mcp::approval_file::RecordedApprovals;
use crate::config::mcp::login_file::RecordedLogins;
use crate::config::mcp::{ConfiguredServer, server_list};
use crate::config::trust::folder_trust::FolderTrust;
use crate::exit::OrUsageError;
use crate::{messages, terminal, toolset};

/// How long a run waits for servers that were never connected before: what they offer is not known.
/// The tools of a slower one are offered when it is connected.
const NEW_SERVERS_MS: u64 = 5_000;

/// Starts to connect the servers, those of the program that drives this process among them.
pub(crate) fn start_servers(
    configured: &[ConfiguredServer],
    hosted: Vec<ServerSpec>,
    folder: &Path,
    (clock, launcher): (&Arc<dyn Clock>, &Arc<dyn ProcessLauncher>),
) -> McpServers {
    let approvals = Arc::new(RecordedApprovals::new(folder, configured));
    let servers = McpServers::new(approvals, Arc::clone(clock));
    let services = McpServices::new(Arc::clone(clock), Arc::clone(launcher));
    for server in configured {
        match spec_of(server, &services, folder) {
            Some(Ok(spec)) => servers.add(spec),
            Some(Err(problem)) => {
                servers.add_failed(
                    &server.name,
                    server.scope.name(),
                    McpError::Misconfigured(problem),
                );
            }
            // It is among those of the program.
            None => {}
        }
    }
    hosted.into_iter().for_each(|spec| servers.add(spec));
    servers
}

/// The specification of a server; `None` for one inside the program that drives this process.
pub(crate) fn spec_of(
    server: &ConfiguredServer,
    services: &McpServices,
    folder: &Path,
) -> Option<Result<ServerSpec, String>> {
    let config = match &server.config {
        Ok(config) => config,
        Err(problem) => return Some(Err(problem.clone())),
    };
    let options = SpecOptions {
        workspace: folder.to_owned(),
        scope: server.scope.name().to_owned(),
        authorization: stored_login(config, services),
    };
    services.spec(&server.name, config, options).map(Ok)
}

/// The credentials of a web service: a stored login, which is refreshed.
fn stored_login(
    config: &McpServerConfig,
    services: &McpServices,
) -> Option<Arc<dyn HttpAuthorization>> {
    let TransportConfig::Http { url, oauth, .. } = &config.transport else { return None };
    let ports = (Arc::new(RecordedLogins) as Arc<dyn LoginStore>, services.clock());
    let client = OAuthClient::new(url, oauth.clone(), services.transport(), ports);
    Some(Arc::new(OAuthAuthorization::new(client)))
}

/// Waits until every server has answered or failed: each has its own limit.
pub(crate) async fn wait_until_settled(servers: &McpServers) {
    for server in servers.list() {
        server.wait_until_settled().await;
    }
}

/// Reports servers without tools, and tools that are withheld: each once.
struct ProblemReporter {
    servers: Vec<(Weak<ManagedServer>, ReportedProblems)>,
}

/// What was reported of one server.
#[derive(Default)]
struct ReportedProblems {
    is_late: bool,
    is_failed: bool,
    withheld: Vec<String>,
}

impl ProblemReporter {
    fn new(servers: &McpServers) -> Self {
        let servers = servers.list();
        let new = |server: &Arc<ManagedServer>| (Arc::downgrade(server), Default::default());
        Self { servers: servers.iter().map(new).collect() }
    }

    /// Reports what is known, and the rest when it becomes known.
    fn report_from_now_on(mut self, servers: &McpServers) {
        self.report();
        let mut changes = servers.changes();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                self.report();
            }
        });
    }

    fn report(&mut self) {
        for (server, reported) in &mut self.servers {
            let Some(server) = server.upgrade() else { continue };
            let is_late = matches!(server.state(), ServerState::Pending);
            if is_late && server.definitions().is_empty() && !reported.is_late {
                reported.is_late = true;
                terminal::print_note(&messages::mcp_server_pending(server.name()));
            }
            if let ServerState::Failed(error) = server.state()
                && !std::mem::replace(&mut reported.is_failed, true)
            {
                terminal::print_note(&messages::mcp_server_failed(server.name(), &error));
            }
            let withheld = server.withheld();
            if withheld != reported.withheld {
                if !withheld.is_empty() {
                    terminal::print_note(&messages::mcp_tools_withheld(server.name(), &withheld));
                }
                reported.withheld = withheld;
            }
        }
    }
}

/// The states of the servers for the init frame.
pub(crate) fn statuses(servers: &McpServers) -> Vec<McpServerStatus> {
    let status = |server: &Arc<ManagedServer>| McpServerStatus {
        name: server.name().to_owned(),
        status: server.state().name().to_owned(),
    };
    servers.list().iter().map(status).collect()
}

/// Starts the MCP servers, and waits for those whose tools are not known yet. A command that makes no model call
/// needs none.
pub(super) async fn start_for_runs(
    args: &AgentArgs,
    asks: ModelNeed,
    folder: &FolderTrust,
    (hosted, may_grow): (Vec<ServerSpec>, bool),
    ports: (&Arc<dyn Clock>, &Arc<dyn ProcessLauncher>),
) -> anyhow::Result<McpServers> {
    let configured = match asks {
        ModelNeed::Required => {
            server_list::configured_servers((&args.mcp, &args.permissions), folder)
                .or_usage_error()?
        }
        ModelNeed::NotNeeded => Vec::new(),
    };
    let servers = start_servers(&configured, hosted, &folder.folder, ports).with_growth(may_grow);
    servers.wait_until_offered(NEW_SERVERS_MS).await;
    ProblemReporter::new(&servers).report_from_now_on(&servers);
    Ok(servers)
}

/// Offers the tools of MCP servers, too, as they are whenever the model is called.
pub(super) fn offer_tools(
    settings: &mut Settings,
    tools: ToolRegistry,
    servers: &McpServers,
    workplace: &ToolContext,
) -> ToolRegistry {
    if !servers.may_offer_tools() {
        return tools;
    }
    let (rules, place) = (settings.rules.clone(), workplace);
    let workplace = workplace.clone();
    let source = ServerTools::new(servers.clone(), move |offered| {
        let allowed = toolset::without_denied(offered, &rules);
        windlass::tools::with_long_results(&allowed, &workplace)
    });
    if servers.list().is_empty() {
        return tools.with_source(Arc::new(source));
    }
    let reading = ToolRegistry::default()
        .with(ListResourcesTool(servers.clone()))
        .with(ReadResourceTool(servers.clone()));
    let reading = toolset::without_denied(&reading, &settings.rules);
    let tools = tools.merge(windlass::tools::with_long_results(&reading, place));
    let tools = toolset::with_tool_search(tools, &settings.rules).with_source(Arc::new(source));
    settings.tools = tools.specs();
    tools
}
