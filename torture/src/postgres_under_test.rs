//! A PostgreSQL server under faults, in a process of its own: what it leaves behind is never
//! mistaken for something of the binary. The process prints the server's address, injects faults
//! until it is told to stop, and ends with the campaign.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, getpid, set_child_subreaper};
use windlass_cluster::{DiskMode, FaultProxy, PostgresCluster, ShutdownMode};

use crate::observe::store::StoreLocation;
use crate::plan::seeded_random::SeededRandom;
use crate::process::child::{self, bare_command};
use crate::process::child_registry::ChildRegistry;
use crate::process::clock::pause;

/// The argument that makes this program a server. Not a documented option: it is for internal use.
const SERVER_ARGUMENT: &str = "--server";

/// Databases, each shared by many conversations.
const DATABASES: [&str; 2] = ["store_0", "store_1"];

/// A server and its faults, ended when dropped.
#[derive(Debug)]
pub(crate) struct TorturedServer<'b> {
    process: Child,
    pid: Pid,
    registry: &'b ChildRegistry,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    proxied_url: String,
    direct_url: String,
}

impl<'b> TorturedServer<'b> {
    pub(crate) fn start(registry: &'b ChildRegistry, seed: u64) -> Result<Self> {
        let ourselves = std::env::current_exe().context("where is this program?")?;
        let mut command = bare_command(&ourselves);
        command.arg(SERVER_ARGUMENT).arg(seed.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (pid, mut process) = registry.start_child(|| {
            let process = command.spawn().context("cannot start the server")?;
            let pid = child::pid_of(&process)?;
            Ok((pid, (pid, process)))
        })?;
        let hear = process.stdout.take().context("the server says nothing")?;
        let stdin = process.stdin.take();
        let mut server = Self {
            process,
            pid,
            registry,
            stdin,
            stdout: BufReader::new(hear),
            proxied_url: String::new(),
            direct_url: String::new(),
        };
        let place = server.read_line()?;
        let Some((wired, direct)) = place.trim().split_once(' ') else {
            bail!("PostgreSQL did not start; see its output above")
        };
        (server.proxied_url, server.direct_url) = (wired.to_owned(), direct.to_owned());
        Ok(server)
    }

    /// The locations of its databases.
    pub(crate) fn stores(&self) -> Vec<StoreLocation> {
        let at = |base: &str, name: &str| format!("{base}/{name}");
        let databases = DATABASES.iter().map(|name| StoreLocation::Server {
            wired: at(&self.proxied_url, name),
            direct: at(&self.direct_url, name),
        });
        databases.collect()
    }

    /// Stops the faults; returns how many there were, as text.
    pub(crate) fn stop_faults(&mut self) -> Result<String> {
        let say = self.stdin.as_mut().context("the server is gone")?;
        writeln!(say, "calm")?;
        self.read_line()
    }

    fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for TorturedServer<'_> {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.process.wait();
        self.registry.remove(self.pid);
    }
}

/// The seed of the faults, if this process is a server.
pub(crate) fn server_seed() -> Option<u64> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == SERVER_ARGUMENT).then(|| words.next()?.to_str()?.parse().ok()).flatten()
}

/// Runs the server until the other end of the pipe is closed.
pub(crate) fn serve(seed: u64) -> Result<ExitCode> {
    set_child_subreaper(Some(getpid())).context("orphans cannot be gathered")?;
    let cluster = PostgresCluster::start(DiskMode::Synced)?;
    let proxy = FaultProxy::listen_for(cluster.port())?;
    make_databases(&cluster.url("postgres"))?;
    let address = |port: u16| format!("postgres://windlass@127.0.0.1:{port}");
    println!("{} {}", address(proxy.port()), address(cluster.port()));
    let heard = listen_for_commands()?;
    let mut storms =
        ServerFaults { cluster, proxy, random: SeededRandom::new(seed, 0), crashes: 0, freezes: 0 };
    while heard.recv_timeout(storms.next_pause()) == Err(RecvTimeoutError::Timeout) {
        storms.inject_fault()?;
    }
    println!(
        "the wire cut {} times, the server crashed {} times and frozen {} times",
        storms.proxy.cuts(),
        storms.crashes,
        storms.freezes
    );
    // No more commands follow: this returns when the other end is closed.
    while heard.recv().is_ok() {}
    Ok(ExitCode::SUCCESS)
}

fn make_databases(url: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for name in DATABASES {
        runtime.block_on(windlass_cluster::run_query(url, &format!("CREATE DATABASE {name}")))?;
    }
    Ok(())
}

/// Receives command lines; closed with the other end.
fn listen_for_commands() -> Result<Receiver<()>> {
    let (tell, heard) = channel();
    std::thread::Builder::new().spawn(move || {
        let lines = std::io::stdin().lines();
        lines.map_while(Result::ok).take_while(|_| tell.send(()).is_ok()).for_each(drop);
    })?;
    Ok(heard)
}

struct ServerFaults {
    cluster: PostgresCluster,
    proxy: FaultProxy,
    random: SeededRandom,
    crashes: u64,
    freezes: u64,
}

impl ServerFaults {
    /// Time until the next fault.
    fn next_pause(&mut self) -> Duration {
        Duration::from_millis(self.random.between(150, 1_200))
    }

    fn inject_fault(&mut self) -> Result<()> {
        match self.random.between(1, 100) {
            1..=8 => {
                self.crashes += 1;
                self.cluster.restart(ShutdownMode::Immediate)
            }
            9..=20 => {
                self.freezes += 1;
                let frozen = self.cluster.freeze()?;
                pause(Duration::from_millis(self.random.between(100, 700)));
                drop(frozen);
                Ok(())
            }
            _ => {
                self.proxy.cut();
                Ok(())
            }
        }
    }
}
