//! From the configuration of a server to what keeps it connected.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_mcp::{
    ConfiguredHeaders, HeadersHelper, HttpAuthorization, HttpConnector, HttpEndpoint,
    HttpTransport, McpConnector, McpServerConfig, ServerLauncher, ServerSpec, StdioCommand,
    StdioConnector, TransportConfig,
};
use windlass_providers::{HttpClient, ProxyRules};
use windlass_runtime::ports::{Clock, ProcessLauncher};

use super::adapters::{GroupLauncher, HttpAdapter};

/// How long a handshake may take unless `MCP_TIMEOUT` says otherwise, in milliseconds.
const DEFAULT_STARTUP_MS: u64 = 30_000;

/// How long a call may be silent unless `MCP_TOOL_TIMEOUT` says otherwise, in milliseconds.
const DEFAULT_CALL_MS: u64 = 600_000;

/// What MCP servers of a process share: how processes are started and requests are sent.
#[derive(Clone)]
pub struct McpServices {
    launcher: Arc<dyn ServerLauncher>,
    transport: Arc<dyn HttpTransport>,
    clock: Arc<dyn Clock>,
}

/// What the specification of a server depends on beside its configuration.
#[derive(Clone)]
pub struct SpecOptions {
    /// The folder in which its program works, and which it may know of.
    pub workspace: PathBuf,
    /// Where it is configured: `user`, `project`, `local`, `dynamic`.
    pub scope: String,
    /// Credentials for a server over HTTP that has none in its headers.
    pub authorization: Option<Arc<dyn HttpAuthorization>>,
}

impl McpServices {
    /// Creates the services of this process, which starts servers through `launcher`. Proxies are those of the environment; an invalid one is
    /// left out, because every model call says so.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, launcher: Arc<dyn ProcessLauncher>) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let proxies = ProxyRules::from_variables(&variable).unwrap_or_default();
        let client = HttpClient::new(Arc::clone(&clock)).with_proxy_rules(proxies);
        let launcher = Arc::new(GroupLauncher { clock: Arc::clone(&clock), launcher });
        Self { launcher, transport: Arc::new(HttpAdapter { client: Arc::new(client) }), clock }
    }

    /// Returns the clock.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Returns how requests are sent.
    #[must_use]
    pub fn transport(&self) -> Arc<dyn HttpTransport> {
        Arc::clone(&self.transport)
    }

    /// Returns the specification of a server; `None` for one inside the program that drives this
    /// process, which has a connector of its own.
    #[must_use]
    pub fn spec(
        &self,
        name: &str,
        config: &McpServerConfig,
        options: SpecOptions,
    ) -> Option<ServerSpec> {
        let connector: Arc<dyn McpConnector> = match &config.transport {
            TransportConfig::Stdio { command, arguments, variables, folder } => {
                let folder = folder.as_ref().map_or_else(
                    || options.workspace.clone(),
                    |folder| options.workspace.join(folder),
                );
                let mut variables = variables.clone();
                let workspace = options.workspace.to_string_lossy().into_owned();
                variables.push(("CLAUDE_PROJECT_DIR".to_owned(), workspace));
                let command = StdioCommand {
                    program: command.clone(),
                    arguments: arguments.clone(),
                    folder,
                    variables,
                };
                Arc::new(StdioConnector::new(command, Arc::clone(&self.launcher)))
            }
            TransportConfig::Http { url, headers, headers_helper, .. } => {
                let helper = headers_helper.as_ref().map(|command| HeadersHelper {
                    command: command.clone(),
                    folder: options.workspace.clone(),
                    server: name.to_owned(),
                    url: url.clone(),
                    launcher: Arc::clone(&self.launcher),
                });
                let has_own = helper.is_some()
                    || headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let headers = Arc::new(ConfiguredHeaders { fixed: headers.clone(), helper });
                let authorization = options.authorization.clone().filter(|_| !has_own);
                let endpoint = HttpEndpoint { url: url.clone(), headers, authorization };
                let (transport, clock) = (self.transport(), Arc::clone(&self.clock));
                Arc::new(HttpConnector::new(endpoint, transport, clock))
            }
            TransportConfig::Sdk => return None,
        };
        Some(ServerSpec {
            name: name.to_owned(),
            connector,
            roots: vec![options.workspace],
            startup_ms: milliseconds_of("MCP_TIMEOUT", DEFAULT_STARTUP_MS),
            call_timeout_ms: config
                .timeout_ms
                .unwrap_or_else(|| milliseconds_of("MCP_TOOL_TIMEOUT", DEFAULT_CALL_MS)),
            scope: options.scope,
            config: config.to_public_json(),
        })
    }
}

/// Returns the value of an environment variable; the default if it is not a number above 0.
fn milliseconds_of(variable: &str, default: u64) -> u64 {
    let given = std::env::var(variable).ok().and_then(|text| text.trim().parse().ok());
    given.filter(|ms| *ms > 0).unwrap_or(default)
}
