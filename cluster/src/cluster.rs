//! A PostgreSQL server: created, started, stopped, crashed, frozen.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::frozen_server::FrozenServer;
use crate::server_account;
use crate::server_binaries;
use crate::server_guard::ServerGuard;
use crate::server_programs::ServerPrograms;

/// Number of ports that are tried.
const PORT_ATTEMPTS: u32 = 5;

/// Whether commits wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskMode {
    /// Commits are synced, as in production.
    Synced,
    /// Commits are not synced: the machine will not lose power while a test runs.
    Trusted,
}

/// The shutdown mode of `pg_ctl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownMode {
    /// Connections are closed, commits are finished.
    Fast,
    /// The server stops as if it had crashed.
    Immediate,
}

/// A running server, stopped and removed when dropped.
#[derive(Debug)]
pub struct PostgresCluster {
    programs: ServerPrograms,
    folder: PathBuf,
    port: u16,
    _guard: ServerGuard,
}

impl PostgresCluster {
    /// Creates and starts a server.
    pub fn start(disk: DiskMode) -> Result<Self> {
        Self::start_with(disk, "")
    }

    /// Creates and starts a server below a world-readable folder.
    pub fn start_in(parent: &Path, disk: DiskMode) -> Result<Self> {
        Self::create(parent, disk, "")
    }

    /// Creates and starts a server with lines added to its configuration.
    pub fn start_with(disk: DiskMode, configuration: &str) -> Result<Self> {
        Self::create(&std::env::temp_dir(), disk, configuration)
    }

    fn create(parent: &Path, disk: DiskMode, configuration: &str) -> Result<Self> {
        let programs = ServerPrograms {
            folder: server_binaries::find_binaries()?,
            account: server_account::find_server_account()?,
        };
        let folder = create_folder(parent, &programs)?;
        let guard = ServerGuard::start(&programs, &folder)?;
        let sync = if disk == DiskMode::Synced { "on" } else { "off" };
        run_initdb(&programs, &folder)?;
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nfsync = {sync}\n\
             max_connections = 200\nshared_buffers = 64MB\nlogging_collector = off\n{configuration}\n",
            folder.display()
        );
        append_lines(&folder.join("data/postgresql.conf"), &settings)?;
        let port = start_on_free_port(&programs, &folder)?;
        Ok(Self { programs, folder, port, _guard: guard })
    }

    /// The URL of a database of the server, for its superuser, who needs no password.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://windlass@127.0.0.1:{}/{database}", self.port)
    }

    /// The port of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the server; its data is in `data`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the server and starts it again.
    pub fn restart(&self, how: ShutdownMode) -> Result<()> {
        self.stop(how)?;
        self.resume()
    }

    /// Stops the server.
    pub fn stop(&self, how: ShutdownMode) -> Result<()> {
        let mode = if how == ShutdownMode::Immediate { "immediate" } else { "fast" };
        self.pg_ctl(&["stop", "-w", "-m", mode])
    }

    /// Starts the server after it was stopped.
    pub fn resume(&self) -> Result<()> {
        start(&self.programs, &self.folder)
    }

    /// Makes the server reload its configuration, with these lines added.
    pub fn reload(&self, file: &str, lines: &str) -> Result<()> {
        append_lines(&self.folder.join("data").join(file), lines)?;
        self.pg_ctl(&["reload"])
    }

    /// Stops all processes of the server (SIGSTOP) until the returned value is dropped.
    pub fn freeze(&self) -> Result<FrozenServer> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid"))?;
        let first = file.lines().next().and_then(|line| line.trim().parse().ok());
        FrozenServer::freeze_with_children(first.context("the server has no number")?)
    }

    fn pg_ctl(&self, arguments: &[&str]) -> Result<()> {
        let data = self.folder.join("data").display().to_string();
        let all = [arguments, &["-D", &data, "-s"]].concat();
        self.programs.run("pg_ctl", &all, &self.folder)
    }
}

fn create_folder(parent: &Path, programs: &ServerPrograms) -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("windlass-pg-").tempdir_in(parent)?.keep();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    if let Some(account) = programs.account {
        std::os::unix::fs::chown(&folder, Some(account.user), Some(account.group))?;
    }
    Ok(folder)
}

fn run_initdb(programs: &ServerPrograms, folder: &Path) -> Result<()> {
    let data = folder.join("data").display().to_string();
    let arguments =
        ["-D", &data, "-U", "windlass", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
    programs.run("initdb", &arguments, folder)
}

/// Starts the server on a free port. Another process may take the port between probing and using
/// it.
fn start_on_free_port(programs: &ServerPrograms, folder: &Path) -> Result<u16> {
    let mut last = None;
    for _ in 0..PORT_ATTEMPTS {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        append_lines(&folder.join("data/postgresql.conf"), &format!("port = {port}\n"))?;
        match start(programs, folder) {
            Ok(()) => return Ok(port),
            Err(error) => last = Some(error),
        }
    }
    bail!("the server did not start: {}", last.map(|it| format!("{it:#}")).unwrap_or_default())
}

fn start(programs: &ServerPrograms, folder: &Path) -> Result<()> {
    let data = folder.join("data").display().to_string();
    let log = folder.join("log").display().to_string();
    programs.run("pg_ctl", &["start", "-w", "-t", "60", "-D", &data, "-l", &log, "-s"], folder)
}

fn append_lines(file: &Path, lines: &str) -> Result<()> {
    let mut text = fs::read_to_string(file)?;
    text.push_str(lines);
    fs::write(file, text).with_context(|| format!("the file {}", file.display()))
}
