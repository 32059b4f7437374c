//! A server that is kept connected: started in the background, watched, and started again after it
//! was lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::Clock;

use crate::connection::{McpConnector, McpError};
use crate::mcp_tool::McpTool;
use crate::ongoing_call::{OngoingCall, SuspendedCalls};
use crate::server::McpServer;
use crate::server_inbox::ServerInbox;
use crate::tool_definition::ToolDefinition;
use crate::tool_name::qualified_tool_name;

/// The delay before the first restart; it doubles with each one that follows.
const FIRST_RESTART_MS: u64 = 500;

/// The longest delay before a restart.
const MAX_RESTART_MS: u64 = 30_000;

/// Number of attempts in a row that may fail; then the server is only started on request.
const MAX_FAILURES: u32 = 5;

/// How long a server whose tools are known is not started unless something is wanted of it: a short
/// run may need none.
const REST_MS: u64 = 1_000;

/// A connection that lasted this long counts as a success.
const STABLE_MS: u64 = 60_000;

/// How a server is reached and what it may take.
#[derive(Clone)]
pub struct ServerSpec {
    /// The name that the configuration gives it.
    pub name: String,
    /// Opens its connections.
    pub connector: Arc<dyn McpConnector>,
    /// The folders that it may know of.
    pub roots: Vec<std::path::PathBuf>,
    /// How long its handshake may take.
    pub startup_ms: u64,
    /// How long a call may be silent.
    pub call_timeout_ms: u64,
    /// Where it is configured: `user`, `project`, `local`, `dynamic`.
    pub scope: String,
    /// The configuration as programs may see it, without secrets.
    pub config: Value,
}

/// Decides which tools of a server may be offered, before their definitions reach a model.
pub trait ToolApprovals: Send + Sync + 'static {
    /// Returns the names of those tools whose definitions differ from the approved ones.
    fn withheld(&self, server: &str, definitions: &[ToolDefinition]) -> Vec<String>;

    /// Returns the definitions that the server had when it was last connected, as far as they are
    /// approved. They are offered before it is connected again.
    fn remembered(&self, _server: &str) -> Vec<ToolDefinition> {
        Vec::new()
    }
}

/// Approves every definition that is seen first, and withholds one that changes while the process
/// runs.
#[derive(Debug, Default)]
pub struct FirstSeenApprovals(Mutex<HashMap<(String, String), String>>);

impl ToolApprovals for FirstSeenApprovals {
    fn withheld(&self, server: &str, definitions: &[ToolDefinition]) -> Vec<String> {
        let mut seen = self.0.lock();
        let is_changed = |definition: &&ToolDefinition| {
            let key = (server.to_owned(), definition.name.clone());
            let hash = definition.hash();
            *seen.entry(key).or_insert_with(|| hash.clone()) != hash
        };
        definitions.iter().filter(is_changed).map(|tool| tool.name.clone()).collect()
    }
}

/// The state of a server.
#[derive(Clone, Default)]
pub enum ServerState {
    /// It is being connected.
    #[default]
    Pending,
    /// It is connected.
    Connected(Arc<McpServer>),
    /// It is not connected, and why.
    Failed(McpError),
    /// It is switched off.
    Disabled,
}

impl ServerState {
    /// Returns the name of the state, as programs know it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Connected(_) => "connected",
            Self::Failed(McpError::NeedsLogin(_)) => "needs-auth",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
        }
    }
}

/// What a person or a program wants of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Wish {
    is_disabled: bool,
    /// Raised to connect it anew.
    generation: u64,
}

/// The tools of a server, as they are offered.
#[derive(Debug, Clone, Default)]
struct KnownTools {
    offered: Vec<ToolDefinition>,
    withheld: Vec<String>,
    /// Whether they are as the server had them earlier: it has not been asked yet.
    are_remembered: bool,
}

/// A server that is kept connected until this is stopped.
pub struct ManagedServer {
    spec: ServerSpec,
    approvals: Arc<dyn ToolApprovals>,
    clock: Arc<dyn Clock>,
    inbox: Arc<ServerInbox>,
    state: watch::Sender<ServerState>,
    tools: Mutex<KnownTools>,
    /// Up to which announced change the tools were read.
    changes_read: watch::Sender<u64>,
    suspended: SuspendedCalls,
    wish: watch::Sender<Wish>,
    /// Whether the connection is wanted: a server whose tools are known rests until then.
    is_wanted: watch::Sender<bool>,
    /// Raised when the tools change.
    changes: watch::Sender<u64>,
}

impl ManagedServer {
    /// Starts to connect a server in the background.
    pub(crate) fn start(
        spec: ServerSpec,
        approvals: Arc<dyn ToolApprovals>,
        clock: Arc<dyn Clock>,
        changes: watch::Sender<u64>,
    ) -> Arc<Self> {
        let roots: Vec<_> = spec.roots.iter().map(std::path::PathBuf::as_path).collect();
        let inbox = Arc::new(ServerInbox::new(&spec.name, &roots));
        let (state, wish) = (watch::Sender::default(), watch::Sender::default());
        let remembered = approvals.remembered(&spec.name);
        let are_remembered = !remembered.is_empty();
        let tools = KnownTools { offered: remembered, withheld: Vec::new(), are_remembered };
        let tools = Mutex::new(tools);
        let changes_read = watch::Sender::default();
        let server = Arc::new(Self {
            spec,
            approvals,
            clock,
            inbox,
            state,
            tools,
            changes_read,
            suspended: SuspendedCalls::default(),
            wish,
            is_wanted: watch::Sender::new(!are_remembered),
            changes,
        });
        let supervised = Arc::downgrade(&server);
        let wishes = server.wish.subscribe();
        tokio::spawn(async move {
            let mut supervisor = Supervisor { wishes, failures: 0 };
            while let Some(server) = supervised.upgrade() {
                if !supervisor.connect_once(server).await {
                    return;
                }
            }
        });
        server
    }

    /// Returns the name that the configuration gives the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns how the server is reached.
    #[must_use]
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// Returns the state of the server.
    #[must_use]
    pub fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    /// Returns the last lines that the server wrote for people.
    #[must_use]
    pub fn log_lines(&self) -> Vec<String> {
        self.inbox.log_lines()
    }

    /// Keeps a call until the user has answered.
    pub(crate) fn suspend(&self, of: (Arc<str>, LaneId), call: OngoingCall) {
        self.suspended.keep(self.clock.now(), of, call);
    }

    /// Returns the calls that wait for an answer of the user.
    pub(crate) fn suspended(&self) -> &SuspendedCalls {
        &self.suspended
    }

    pub(crate) fn call_timeout_ms(&self) -> u64 {
        self.spec.call_timeout_ms
    }

    /// Returns the definitions of the tools that are offered.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.lock().offered.clone()
    }

    /// Waits until the tools are known as the server announced them last, so that no call is made of a
    /// definition that it has changed. A connection that is lost announces nothing more.
    pub(crate) async fn wait_until_tools_are_known(&self) {
        let announced = self.inbox.announced_changes();
        let mut read = self.changes_read.subscribe();
        let mut states = self.state.subscribe();
        tokio::select! {
            _ = read.wait_for(|read| *read >= announced) => {}
            _ = states.wait_for(|state| !matches!(state, ServerState::Connected(_))) => {}
        }
    }

    /// Returns whether the tool is offered with the definition that has this hash.
    pub(crate) fn offers(&self, tool: &str, definition_hash: &str) -> bool {
        let tools = self.tools.lock();
        tools.offered.iter().any(|own| own.name == tool && own.hash() == definition_hash)
    }

    /// Returns the names of the tools that are withheld because their definitions changed.
    #[must_use]
    pub fn withheld(&self) -> Vec<String> {
        self.tools.lock().withheld.clone()
    }

    /// Returns the tools for the runtime.
    #[must_use]
    pub fn tools(self: &Arc<Self>) -> Vec<McpTool> {
        let definitions = self.definitions();
        definitions.iter().map(|definition| McpTool::new(Arc::clone(self), definition)).collect()
    }

    /// Waits for the answer to a request that is no call, but no longer than a call may be silent.
    pub(crate) async fn within_call_timeout<T>(
        &self,
        request: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        let ms = self.call_timeout_ms();
        match tokio::time::timeout(Duration::from_millis(ms), request).await {
            Ok(answered) => answered,
            Err(_) => Err(McpError::Unreachable(format!("it was silent for {ms} ms"))),
        }
    }

    /// Returns the connection, waiting until a server that is starting is connected.
    pub(crate) async fn connected(&self) -> Result<Arc<McpServer>, McpError> {
        self.is_wanted.send_replace(true);
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| !matches!(state, ServerState::Pending)).await;
        match state.as_deref() {
            Ok(ServerState::Connected(server)) => Ok(Arc::clone(server)),
            Ok(ServerState::Failed(error)) => Err(error.clone()),
            Ok(ServerState::Disabled) => {
                Err(McpError::Misconfigured("the server is switched off".to_owned()))
            }
            Ok(ServerState::Pending) | Err(_) => {
                Err(McpError::Unreachable("the server was removed".to_owned()))
            }
        }
    }

    /// Returns a connection that is newer than this one.
    pub(crate) async fn connected_after(
        &self,
        old: &Arc<McpServer>,
    ) -> Result<Arc<McpServer>, McpError> {
        let mut states = self.state.subscribe();
        let is_old = |state: &ServerState| matches!(state, ServerState::Connected(server) if Arc::ptr_eq(server, old));
        drop(states.wait_for(|state| !is_old(state)).await);
        self.connected().await
    }

    /// Waits until the server is connected or has failed.
    pub async fn wait_until_settled(&self) {
        self.is_wanted.send_replace(true);
        let mut states = self.state.subscribe();
        drop(states.wait_for(|state| !matches!(state, ServerState::Pending)).await);
    }

    /// Waits until the server offers tools, or cannot: tools that it had earlier are offered before it
    /// is connected.
    pub async fn wait_until_offered(&self) {
        if !self.tools.lock().are_remembered {
            self.wait_until_settled().await;
        }
    }

    /// Connects the server anew, and waits for the result.
    pub async fn reconnect(&self) {
        self.state.send_replace(ServerState::Pending);
        self.wish.send_modify(|wish| {
            wish.is_disabled = false;
            wish.generation += 1;
        });
        self.wait_until_settled().await;
    }

    /// Switches the server on or off.
    pub async fn set_enabled(&self, is_enabled: bool) {
        if is_enabled {
            return self.reconnect().await;
        }
        self.wish.send_modify(|wish| {
            wish.is_disabled = true;
            wish.generation += 1;
        });
        let mut states = self.state.subscribe();
        drop(states.wait_for(|state| matches!(state, ServerState::Disabled)).await);
    }

    async fn connect(&self) -> Result<McpServer, McpError> {
        let connected = async {
            let connection = self.spec.connector.connect(Arc::clone(&self.inbox)).await?;
            McpServer::connect(self.name(), connection, Arc::clone(&self.inbox)).await
        };
        let limit = Duration::from_millis(self.spec.startup_ms);
        match tokio::time::timeout(limit, connected).await {
            Ok(connected) => connected,
            Err(_) => {
                let ms = self.spec.startup_ms;
                Err(McpError::Unreachable(format!(
                    "the handshake took longer than {ms} ms; MCP_TIMEOUT allows more"
                )))
            }
        }
    }

    /// Takes over what the server says about its tools.
    fn set_tools(&self, definitions: &[ToolDefinition]) {
        let mut seen = std::collections::HashSet::new();
        let is_usable = |tool: &&ToolDefinition| {
            tool.is_offerable() && seen.insert(qualified_tool_name(self.name(), &tool.name))
        };
        let usable: Vec<_> = definitions.iter().filter(is_usable).cloned().collect();
        let withheld = self.approvals.withheld(self.name(), &usable);
        let is_offered = |tool: &ToolDefinition| !withheld.contains(&tool.name);
        let offered = usable.into_iter().filter(is_offered).collect();
        *self.tools.lock() = KnownTools { offered, withheld, are_remembered: false };
        self.changes.send_modify(|count| *count += 1);
    }

    /// Takes the tools back, because the server is not tried again by itself.
    fn take_tools_back(&self) {
        *self.tools.lock() = KnownTools::default();
        self.changes.send_modify(|count| *count += 1);
    }
}

/// Keeps a server connected.
struct Supervisor {
    wishes: watch::Receiver<Wish>,
    failures: u32,
}

impl Supervisor {
    /// Connects once and watches the connection to its end; returns whether to go on.
    async fn connect_once(&mut self, server: Arc<ManagedServer>) -> bool {
        let wish = *self.wishes.borrow_and_update();
        if wish.is_disabled {
            server.state.send_replace(ServerState::Disabled);
            server.take_tools_back();
            drop(server);
            return self.wishes.changed().await.is_ok();
        }
        let clock = Arc::clone(&server.clock);
        let mut wanted = server.is_wanted.subscribe();
        let server = {
            // A server that rests is not kept by its supervisor.
            let weak = Arc::downgrade(&server);
            drop(server);
            tokio::select! {
                _ = wanted.wait_for(|is_wanted| *is_wanted) => {}
                () = clock.sleep(REST_MS) => {}
            }
            let Some(server) = weak.upgrade() else { return false };
            server
        };
        server.is_wanted.send_replace(true);
        let began = clock.monotonic_ms();
        // A server that failed is shown as failed until it is connected.
        let weak = Arc::downgrade(&server);
        let announced = server.inbox.announced_changes();
        let error = match server.connect().await {
            Ok(connected) => {
                let connected = Arc::new(connected);
                server.set_tools(connected.definitions());
                server.changes_read.send_replace(announced);
                server.state.send_replace(ServerState::Connected(Arc::clone(&connected)));
                drop(server);
                let error = self.watch(&weak, &connected).await;
                connected.client().connection().close().await;
                let Some(server) = weak.upgrade() else { return false };
                if clock.monotonic_ms().saturating_sub(began) > STABLE_MS {
                    self.failures = 0;
                }
                let Some(error) = error else { return true };
                // Calls wait for the restart instead of failing at once.
                server.state.send_replace(ServerState::Pending);
                error
            }
            Err(error) => {
                server.state.send_replace(ServerState::Failed(error.clone()));
                server.changes.send_modify(|count| *count += 1);
                drop(server);
                error
            }
        };
        if self.is_given_up(&error) {
            weak.upgrade().iter().for_each(|server| server.take_tools_back());
        }
        self.wait_before_restart(&error, clock).await
    }

    /// Returns whether the server is not tried again by itself after this failure.
    fn is_given_up(&self, error: &McpError) -> bool {
        let is_final = matches!(error, McpError::Misconfigured(_) | McpError::NeedsLogin(_));
        is_final || self.failures >= MAX_FAILURES
    }

    /// Watches a connection. Returns why it was lost; `None` if it is to be connected anew.
    async fn watch(
        &mut self,
        server: &std::sync::Weak<ManagedServer>,
        connected: &Arc<McpServer>,
    ) -> Option<McpError> {
        let client = connected.client();
        loop {
            tokio::select! {
                error = client.connection().wait_until_lost() => return Some(error),
                _ = self.wishes.changed() => return None,
                () = client.inbox().wait_for_changed_prompts() => connected.read_prompts().await,
                () = client.inbox().wait_for_changed_tools() => {
                    let announced = client.inbox().announced_changes();
                    let changed = connected.read_tools().await;
                    let server = server.upgrade()?;
                    // A server that cannot say what changed keeps its tools.
                    if let Ok(definitions) = changed {
                        server.set_tools(&definitions);
                    }
                    server.changes_read.send_replace(announced);
                }
            }
        }
    }

    async fn wait_before_restart(&mut self, error: &McpError, clock: Arc<dyn Clock>) -> bool {
        let is_given_up = self.is_given_up(error);
        self.failures += 1;
        if is_given_up {
            return self.wishes.changed().await.is_ok();
        }
        if *error == McpError::SessionExpired {
            return true;
        }
        let doubled = FIRST_RESTART_MS << self.failures.min(10).saturating_sub(1);
        tokio::select! {
            () = clock.sleep(doubled.min(MAX_RESTART_MS)) => true,
            changed = self.wishes.changed() => changed.is_ok(),
        }
    }
}
