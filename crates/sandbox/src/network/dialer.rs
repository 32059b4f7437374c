//! Which connections the proxy makes: to hosts that a rule covers, at addresses that were checked.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use windlass_runtime::network_addresses::refusal;

use crate::HostRule;
use crate::host_rule::normalize_host;

/// Maximum time for one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of hosts that are reported as blocked, and as reached.
const MAX_NOTED: usize = 20;

/// Makes connections for a confined process, and notes what it refused.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    rules: Arc<[HostRule]>,
    blocked: Arc<Mutex<Vec<String>>>,
    reached: Arc<Mutex<Vec<String>>>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum DialError {
    /// The policy does not allow it.
    Blocked(String),
    /// The host cannot be reached.
    Unreachable(String),
}

impl Dialer {
    pub(crate) fn new(rules: &[HostRule]) -> Self {
        Self { rules: rules.into(), blocked: Arc::default(), reached: Arc::default() }
    }

    /// Returns the hosts that were refused, each once.
    pub(crate) fn blocked(&self) -> Vec<String> {
        self.blocked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the hosts that were reached, each once.
    pub(crate) fn reached(&self) -> Vec<String> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connects to a host, if a rule covers it.
    pub(super) async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, DialError> {
        let Some(name) = normalize_host(host) else {
            return Err(self.block(&format!("{}:{port}", host.escape_default())));
        };
        let target = format!("{name}:{port}");
        let Some(rule) = self.rules.iter().find(|rule| rule.covers(&name, port)) else {
            return Err(self.block(&target));
        };
        let addresses = match rule.address() {
            Some(address) => vec![address],
            None => {
                let found = tokio::net::lookup_host((name.as_str(), port)).await;
                let found: Vec<SocketAddr> =
                    found.map_err(|error| unreachable(&target, &error))?.collect();
                // One private address among public ones is enough: which one is used is chance.
                let refused = found.iter().find_map(|address| refusal(address.ip()));
                if let Some(why) = refused.filter(|_| !rule.names_address()) {
                    return Err(self.block(&format!("{target}, which leads to {why}")));
                }
                found
            }
        };
        let stream = connect(&target, &addresses).await?;
        note(&self.reached, &target);
        Ok(stream)
    }

    fn block(&self, target: &str) -> DialError {
        note(&self.blocked, target);
        DialError::Blocked(format!(
            "the sandbox does not allow {target}; a person can add it to `sandbox.hosts`"
        ))
    }

    /// Notes a connection that was made and then ended because it names another host.
    pub(super) fn note_other_host(&self, host: &str) {
        drop(self.block(host));
    }
}

fn note(hosts: &Mutex<Vec<String>>, target: &str) {
    let mut hosts = hosts.lock().unwrap_or_else(PoisonError::into_inner);
    if hosts.len() < MAX_NOTED && !hosts.iter().any(|known| known == target) {
        hosts.push(target.to_owned());
    }
}

fn unreachable(target: &str, error: &io::Error) -> DialError {
    DialError::Unreachable(format!("{target} cannot be reached: {error}"))
}

async fn connect(target: &str, addresses: &[SocketAddr]) -> Result<TcpStream, DialError> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(unreachable(target, &last))
}
