//! The servers of a process.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use windlass_runtime::ports::{BoxFuture, Clock};
use windlass_runtime::{ToolRegistry, ToolSource};

use crate::connection::{McpConnection, McpConnector, McpError};
use crate::managed_server::{ManagedServer, ServerSpec, ToolApprovals};
use crate::server_inbox::ServerInbox;

/// The servers of a process, each of them kept connected. Copies share the servers; they end with
/// the last copy.
#[derive(Clone)]
pub struct McpServers {
    servers: Arc<Mutex<Vec<Arc<ManagedServer>>>>,
    approvals: Arc<dyn ToolApprovals>,
    clock: Arc<dyn Clock>,
    changes: watch::Sender<u64>,
    may_grow: bool,
}

impl McpServers {
    /// Creates a set without servers.
    #[must_use]
    pub fn new(approvals: Arc<dyn ToolApprovals>, clock: Arc<dyn Clock>) -> Self {
        let changes = watch::Sender::new(0);
        Self { servers: Arc::default(), approvals, clock, changes, may_grow: false }
    }

    /// Says whether servers may be added after the first run began.
    #[must_use]
    pub fn with_growth(mut self, may_grow: bool) -> Self {
        self.may_grow = may_grow;
        self
    }

    /// Returns whether there are tools to offer, now or later.
    #[must_use]
    pub fn may_offer_tools(&self) -> bool {
        self.may_grow || !self.servers.lock().is_empty()
    }

    /// Starts to connect a server in the background. It replaces a server of the same name.
    pub fn add(&self, spec: ServerSpec) {
        let (approvals, clock) = (Arc::clone(&self.approvals), Arc::clone(&self.clock));
        self.remove(&spec.name);
        let server = ManagedServer::start(spec, approvals, clock, self.changes.clone());
        self.servers.lock().push(server);
    }

    /// Adds a server that cannot be connected, so that its state says why.
    pub fn add_failed(&self, name: &str, scope: &str, error: McpError) {
        self.add(ServerSpec {
            name: name.to_owned(),
            connector: Arc::new(FailingConnector(error)),
            roots: Vec::new(),
            startup_ms: 1_000,
            call_timeout_ms: 1_000,
            scope: scope.to_owned(),
            config: Value::Null,
        });
    }

    /// Removes a server; returns whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let mut servers = self.servers.lock();
        let before = servers.len();
        servers.retain(|server| server.name() != name);
        let is_removed = servers.len() < before;
        if is_removed {
            self.changes.send_modify(|count| *count += 1);
        }
        is_removed
    }

    /// Returns the servers, in the order in which they were added.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<ManagedServer>> {
        self.servers.lock().clone()
    }

    /// Returns the server of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Arc<ManagedServer>> {
        self.servers.lock().iter().find(|server| server.name() == name).cloned()
    }

    /// Waits until every server is connected or has failed, but not longer than this.
    pub async fn wait_until_settled(&self, limit_ms: u64) {
        let servers = self.list();
        let all = async {
            for server in &servers {
                server.wait_until_settled().await;
            }
        };
        drop(tokio::time::timeout(Duration::from_millis(limit_ms), all).await);
    }

    /// Waits until every server offers tools or cannot, but not longer than this. A server that was
    /// connected earlier offers what it had then, and is not waited for.
    pub async fn wait_until_offered(&self, limit_ms: u64) {
        let servers = self.list();
        let all = async {
            for server in &servers {
                server.wait_until_offered().await;
            }
        };
        drop(tokio::time::timeout(Duration::from_millis(limit_ms), all).await);
    }

    /// Returns the tools that are offered now. No server can take the name of another tool: names
    /// begin with that of the server.
    #[must_use]
    pub fn tools(&self) -> ToolRegistry {
        let servers = self.list();
        let tools = servers.iter().flat_map(ManagedServer::tools);
        tools.fold(ToolRegistry::default(), ToolRegistry::with)
    }

    /// Returns a counter that is raised whenever tools change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// The tools of servers as they are now, adapted to what a process offers.
pub struct ServerTools {
    servers: McpServers,
    adapt: Box<dyn Fn(&ToolRegistry) -> ToolRegistry + Send + Sync>,
    changes: watch::Receiver<u64>,
    /// The tools of a state of the servers, by the number of changes up to it.
    adapted: Mutex<Option<(u64, ToolRegistry)>>,
}

impl ServerTools {
    /// Creates the source of the tools of these servers.
    #[must_use]
    pub fn new(
        servers: McpServers,
        adapt: impl Fn(&ToolRegistry) -> ToolRegistry + Send + Sync + 'static,
    ) -> Self {
        let changes = servers.changes();
        Self { servers, adapt: Box::new(adapt), changes, adapted: Mutex::default() }
    }
}

impl ToolSource for ServerTools {
    fn tools(&self) -> ToolRegistry {
        let count = *self.changes.borrow();
        let mut adapted = self.adapted.lock();
        match &*adapted {
            Some((known, tools)) if *known == count => tools.clone(),
            Some(_) | None => {
                let tools = (self.adapt)(&self.servers.tools());
                *adapted = Some((count, tools.clone()));
                tools
            }
        }
    }
}

/// Opens no connection.
struct FailingConnector(McpError);

impl McpConnector for FailingConnector {
    fn connect(
        &self,
        _inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        Box::pin(std::future::ready(Err(self.0.clone())))
    }
}
