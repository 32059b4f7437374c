//! The launcher: starts the helper, hands it the policy, and waits for its reports.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use windlass_runtime::ports::{
    BoxFuture, LaunchAccess, LaunchGroup, LaunchPurpose, LaunchRequest, LaunchedProcess,
    ProcessHandle, ProcessLauncher,
};

use crate::network::{Dialer, NetworkTasks, PROXY_PORT, proxy_variables, receive_listeners};
use crate::protocol::{HELPER_NAME, HelperReport, HelperRequest, RequestedListeners};
use crate::{HostRule, Layers, Mechanism, NetworkAccess, Policy};

/// Files that a person may want to make while a server runs, which it does for hours: nothing holds
/// their place for it. What they start needs the approval of a person anyway.
const FILES_OF_PEOPLE: [&str; 2] = [".mcp.json", ".envrc"];

/// Variables of folders for temporary files and caches, which end with the process.
const WRITABLE_FOLDERS: [(&str, &str); 3] = [
    ("TMPDIR", "/tmp"),
    ("XDG_CACHE_HOME", "/tmp/.cache"),
    ("npm_config_cache", "/tmp/.cache/npm"),
];

/// Returns the policy of a process that is about to start: in the workspace or in a folder that takes
/// its place, with these folders added.
type CurrentPolicy = dyn Fn(Option<&Path>, &[PathBuf]) -> io::Result<Policy> + Send + Sync;

/// Starts processes confined by a policy.
#[derive(Clone)]
pub struct SandboxLauncher {
    policy: Arc<Policy>,
    current: Option<Arc<CurrentPolicy>>,
    helper: PathBuf,
    layers: Layers,
}

impl std::fmt::Debug for SandboxLauncher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxLauncher").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl SandboxLauncher {
    /// Returns a launcher that starts this program again as its helper. The program must call
    /// [`run_if_requested`](crate::run_if_requested) at the beginning of its `main`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let helper = PathBuf::from("/proc/self/exe");
        Self { policy: Arc::new(policy), current: None, helper, layers: Layers::ALL }
    }

    /// Asks for the policy again before each process: what is protected may not have existed
    /// before. An error keeps the process from starting.
    #[must_use]
    pub fn with_current_policy(
        mut self,
        current: impl Fn(Option<&Path>, &[PathBuf]) -> io::Result<Policy> + Send + Sync + 'static,
    ) -> Self {
        self.current = Some(Arc::new(current));
        self
    }

    /// Uses another program as the helper, such as `windlass-sandbox-exec`.
    #[must_use]
    pub fn with_helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.helper = program.into();
        self
    }

    /// Asks for these layers only.
    #[must_use]
    pub fn with_layers(mut self, layers: Layers) -> Self {
        self.layers = layers;
        self
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Starts a program that does nothing, to see what processes are confined by here.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be confined on this machine.
    pub async fn probe(&self) -> io::Result<Mechanism> {
        let request = LaunchRequest::new(LaunchPurpose::Command, "/bin/true", "/");
        let (_, mut handle, mechanism) = self.start(request).await?;
        handle.end().await;
        Ok(mechanism)
    }

    async fn start(
        &self,
        request: LaunchRequest,
    ) -> io::Result<(Streams, ConfinedHandle, Mechanism)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = self.helper_command(&request, theirs.as_raw_fd());
        let mut helper_request = self.helper_request(request)?;
        let network = NetworkPlan::of(&mut helper_request)?;
        if let Some(network) = &network {
            keep_open(&mut command, network.theirs.as_raw_fd());
        }
        let mut child = command.spawn()?;
        drop(theirs);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let control = BufReader::new(UnixStream::from_std(ours)?);
        let mut handle = ConfinedHandle {
            child,
            control: Some(control),
            line: String::new(),
            init: 0,
            dialer: None,
            network: NetworkTasks::default(),
        };
        let mut text = serde_json::to_vec(&helper_request)?;
        text.push(b'\n');
        handle.send(&text).await?;
        match handle.next_report().await? {
            Some(HelperReport::Started { mechanism, init }) => {
                handle.init = init;
                if let Some(network) = network {
                    network.serve(&mut handle)?;
                }
                Ok((streams, handle, mechanism))
            }
            Some(HelperReport::Refused { reason }) => {
                Err(io::Error::other(format!("the sandbox refused to start it: {reason}")))
            }
            Some(HelperReport::NoNamespaces { .. } | HelperReport::Exited { .. }) | None => {
                Err(io::Error::other("the helper of the sandbox ended before the program started"))
            }
        }
    }

    fn helper_request(&self, request: LaunchRequest) -> io::Result<HelperRequest> {
        let mut policy = match &self.current {
            Some(current) => current(request.workplace.as_deref(), &request.added_folders)?,
            None => Policy::clone(&self.policy),
        };
        if request.purpose == LaunchPurpose::McpServer {
            let is_kept = |path: &PathBuf| {
                path.symlink_metadata().is_ok()
                    || !FILES_OF_PEOPLE.iter().any(|it| path.ends_with(it))
            };
            policy.protect.retain(is_kept);
        }
        let configured = policy.hosts.clone();
        if request.access == LaunchAccess::ReadOnly {
            policy = policy.into_read_only();
        }
        add_hosts(&mut policy, &request.hosts, configured, request.withholds_hosts)?;
        policy.write.extend(request.writable);
        policy.deny_read.extend(request.unreadable);
        Ok(HelperRequest {
            policy,
            layers: self.layers,
            folder: request.folder,
            environment: request.environment,
            listeners: RequestedListeners::default(),
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this is an adapter of the launcher port")]
    fn helper_command(&self, request: &LaunchRequest, control: RawFd) -> Command {
        let mut command = Command::new(&self.helper);
        command.arg0(HELPER_NAME).arg(control.to_string());
        command.arg(&request.program).args(&request.arguments);
        command.env_clear().current_dir(&request.folder);
        command.stdin(request.stdin).stdout(request.stdout).stderr(request.stderr);
        let group = match request.group {
            LaunchGroup::New => 0,
            LaunchGroup::Join(group) => group,
        };
        command.process_group(group);
        keep_open(&mut command, control);
        command
    }
}

/// Lets a process reach hosts that a person allowed, and withholds the others if it must not have
/// them.
fn add_hosts(
    policy: &mut Policy,
    hosts: &[String],
    configured: Vec<HostRule>,
    withholds_others: bool,
) -> io::Result<()> {
    if withholds_others {
        policy.hosts.clear();
    }
    for host in hosts {
        let rule = HostRule::for_one_host(host, &configured).map_err(io::Error::other)?;
        policy.hosts.push(rule);
    }
    Ok(())
}

/// Names folders that can be written to programs that would otherwise use the home folder.
fn add_defaults(environment: &mut Vec<(OsString, OsString)>) {
    environment.retain(|(name, _)| name != "TMPDIR");
    for (name, folder) in WRITABLE_FOLDERS {
        if !environment.iter().any(|(known, _)| known == name) {
            environment.push((name.into(), folder.into()));
        }
    }
}

/// Lets the child of `command` inherit a descriptor, and no other child.
#[expect(unsafe_code, reason = "a descriptor is kept for one child between fork and exec")]
fn keep_open(command: &mut Command, descriptor: RawFd) {
    let keep = move || {
        // SAFETY: fcntl is async-signal-safe, and the descriptor is open until the child exists.
        match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure calls nothing but fcntl and allocates nothing.
    unsafe { command.pre_exec(keep) };
}

/// Standard input, output and error of a process.
type Streams = (
    Option<tokio::process::ChildStdin>,
    Option<tokio::process::ChildStdout>,
    Option<tokio::process::ChildStderr>,
);

impl ProcessLauncher for SandboxLauncher {
    fn launch(&self, request: LaunchRequest) -> BoxFuture<'_, io::Result<LaunchedProcess>> {
        Box::pin(async move {
            let ((stdin, stdout, stderr), handle, _) = self.start(request).await?;
            Ok(LaunchedProcess { stdin, stdout, stderr, handle: Box::new(handle) })
        })
    }

    fn describe_confinement(&self) -> String {
        let writes = match self.policy.write.is_empty() {
            true => "read-only",
            false => "workspace-write",
        };
        match self.policy.network {
            NetworkAccess::None => format!("{writes}, without network"),
            NetworkAccess::Full => format!("{writes}, with network"),
        }
    }
}

/// A confined process. When the control stream closes, the helper ends everything.
#[derive(Debug)]
struct ConfinedHandle {
    child: Child,
    control: Option<BufReader<UnixStream>>,
    /// The part of a report that has arrived.
    line: String,
    init: i32,
    /// Knows the hosts that were refused.
    dialer: Option<Dialer>,
    network: NetworkTasks,
}

/// The listeners that a process gets in its network namespace, and what serves them.
struct NetworkPlan {
    ours: std::os::unix::net::UnixStream,
    theirs: std::os::unix::net::UnixStream,
    dialer: Dialer,
    local_ports: Vec<u16>,
}

impl NetworkPlan {
    /// Plans the proxy and the ports of this machine. Without a host the proxy refuses every one,
    /// and says which; with the network of this machine there is nothing to plan.
    fn of(request: &mut HelperRequest) -> io::Result<Option<Self>> {
        if request.policy.network != NetworkAccess::None || !request.layers.namespaces {
            return Ok(None);
        }
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let local_ports = request.policy.local_ports.clone();
        request.listeners = RequestedListeners {
            channel: Some(theirs.as_raw_fd()),
            ports: std::iter::once(PROXY_PORT).chain(local_ports.iter().copied()).collect(),
        };
        let variables = proxy_variables();
        request.environment.retain(|(name, _)| variables.iter().all(|(own, _)| own != name));
        request.environment.extend(variables);
        add_defaults(&mut request.environment);
        let dialer = Dialer::new(&request.policy.hosts);
        Ok(Some(Self { ours, theirs, dialer, local_ports }))
    }

    /// Serves the listeners that were made, for as long as the process runs.
    fn serve(self, handle: &mut ConfinedHandle) -> io::Result<()> {
        let mut listeners = receive_listeners(&self.ours)?.into_iter();
        if let Some(proxy) = listeners.next() {
            handle.network.serve_proxy(proxy, self.dialer.clone());
        }
        for (listener, port) in listeners.zip(self.local_ports) {
            handle.network.serve_port(listener, port);
        }
        handle.dialer = Some(self.dialer);
        Ok(())
    }
}

impl ConfinedHandle {
    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.control {
            Some(control) => control.get_mut().write_all(bytes).await,
            None => Ok(()),
        }
    }

    /// Returns the next report; `None` when the helper has ended. Can be dropped and called again.
    async fn next_report(&mut self) -> io::Result<Option<HelperReport>> {
        let Some(control) = &mut self.control else { return Ok(None) };
        // A helper that was killed resets the connection.
        let read = control.read_line(&mut self.line).await.unwrap_or_default();
        if read == 0 {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.line);
        Ok(Some(serde_json::from_str(&line)?))
    }
}

impl ProcessHandle for ConfinedHandle {
    fn id(&self) -> Option<u32> {
        self.child.id()
    }

    fn helper_ids(&self) -> Vec<i32> {
        vec![self.init]
    }

    fn blocked_hosts(&self) -> Vec<String> {
        self.dialer.as_ref().map(Dialer::blocked).unwrap_or_default()
    }

    fn reached_hosts(&self) -> Vec<String> {
        self.dialer.as_ref().map(Dialer::reached).unwrap_or_default()
    }

    fn wait(&mut self) -> BoxFuture<'_, io::Result<ExitStatus>> {
        Box::pin(async move {
            match self.next_report().await? {
                Some(HelperReport::Exited { status }) => Ok(ExitStatus::from_raw(status)),
                // The helper was killed, and the kernel killed what it had confined.
                _ => Ok(ExitStatus::from_raw(libc::SIGKILL)),
            }
        })
    }

    fn start_kill(&mut self) -> io::Result<()> {
        self.control = None;
        Ok(())
    }

    fn end(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.network = NetworkTasks::default();
            self.control = None;
            drop(self.child.wait().await);
        })
    }
}
