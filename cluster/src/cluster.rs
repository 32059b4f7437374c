//! A server: made, started, stopped the hard way, frozen.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::account;
use crate::binaries;
use crate::command::Programs;
use crate::frozen::Frozen;
use crate::guard::Guard;

/// How often another port is tried.
const PORTS: u32 = 5;

/// Whether commits wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disk {
    /// As in production.
    Synced,
    /// The machine will not lose power while a test runs.
    Trusted,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Connections are ended, commits finished.
    Fast,
    /// As if it had crashed.
    Immediate,
}

/// A running server, gone when dropped.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    _guard: Guard,
}

impl Cluster {
    /// Makes and starts a server.
    pub fn start(disk: Disk) -> Result<Self> {
        Self::start_with(disk, "")
    }

    /// Makes and starts a server below a folder that anybody may look into.
    pub fn start_in(parent: &Path, disk: Disk) -> Result<Self> {
        Self::make(parent, disk, "")
    }

    /// Makes and starts a server with lines added to its configuration.
    pub fn start_with(disk: Disk, configuration: &str) -> Result<Self> {
        Self::make(&std::env::temp_dir(), disk, configuration)
    }

    fn make(parent: &Path, disk: Disk, configuration: &str) -> Result<Self> {
        let programs = Programs { folder: binaries::folder()?, account: account::for_server()? };
        let folder = make_folder(parent, &programs)?;
        let guard = Guard::over(&programs, &folder)?;
        let sync = if disk == Disk::Synced { "on" } else { "off" };
        initdb(&programs, &folder)?;
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nfsync = {sync}\n\
             max_connections = 200\nshared_buffers = 64MB\nlogging_collector = off\n{configuration}\n",
            folder.display()
        );
        append(&folder.join("data/postgresql.conf"), &settings)?;
        let port = start_on_free_port(&programs, &folder)?;
        Ok(Self { programs, folder, port, _guard: guard })
    }

    /// The address of a database in it, for its first user, who needs no password.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://windlass@127.0.0.1:{}/{database}", self.port)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its folder; its data are in `data`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops it and starts it again.
    pub fn restart(&self, how: Stop) -> Result<()> {
        self.stop(how)?;
        self.resume()
    }

    /// Stops it.
    pub fn stop(&self, how: Stop) -> Result<()> {
        let mode = if how == Stop::Immediate { "immediate" } else { "fast" };
        self.pg_ctl(&["stop", "-w", "-m", mode])
    }

    /// Starts it after it was stopped.
    pub fn resume(&self) -> Result<()> {
        start(&self.programs, &self.folder)
    }

    /// Makes it read its configuration again, with these lines added.
    pub fn reload(&self, file: &str, lines: &str) -> Result<()> {
        append(&self.folder.join("data").join(file), lines)?;
        self.pg_ctl(&["reload"])
    }

    /// Stops all of its processes where they are, until the answer is dropped.
    pub fn freeze(&self) -> Result<Frozen> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid"))?;
        let first = file.lines().next().and_then(|line| line.trim().parse().ok());
        Frozen::with_children(first.context("the server has no number")?)
    }

    fn pg_ctl(&self, arguments: &[&str]) -> Result<()> {
        let data = self.folder.join("data").display().to_string();
        let all = [arguments, &["-D", &data, "-s"]].concat();
        self.programs.run("pg_ctl", &all, &self.folder)
    }
}

fn make_folder(parent: &Path, programs: &Programs) -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("windlass-pg-").tempdir_in(parent)?.keep();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    if let Some(account) = programs.account {
        std::os::unix::fs::chown(&folder, Some(account.user), Some(account.group))?;
    }
    Ok(folder)
}

fn initdb(programs: &Programs, folder: &Path) -> Result<()> {
    let data = folder.join("data").display().to_string();
    let arguments =
        ["-D", &data, "-U", "windlass", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"];
    programs.run("initdb", &arguments, folder)
}

/// Between asking for a free port and using it somebody else may be faster.
fn start_on_free_port(programs: &Programs, folder: &Path) -> Result<u16> {
    let mut last = None;
    for _ in 0..PORTS {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        append(&folder.join("data/postgresql.conf"), &format!("port = {port}\n"))?;
        match start(programs, folder) {
            Ok(()) => return Ok(port),
            Err(error) => last = Some(error),
        }
    }
    bail!("the server does not start: {}", last.map(|it| format!("{it:#}")).unwrap_or_default())
}

fn start(programs: &Programs, folder: &Path) -> Result<()> {
    let data = folder.join("data").display().to_string();
    let log = folder.join("log").display().to_string();
    programs.run("pg_ctl", &["start", "-w", "-t", "60", "-D", &data, "-l", &log, "-s"], folder)
}

fn append(file: &Path, lines: &str) -> Result<()> {
    let mut text = fs::read_to_string(file)?;
    text.push_str(lines);
    fs::write(file, text).with_context(|| format!("the file {}", file.display()))
}
