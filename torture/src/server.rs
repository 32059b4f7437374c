//! A PostgreSQL under torture, in a process of its own: what it leaves behind is never taken for
//! something the binary left. It says where it is, does its worst to the server until it is told to
//! be calm, and ends with the one who asked for it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, getpid, set_child_subreaper};
use windlass_cluster::{Cluster, Disk, Proxy, Stop};

use crate::brood::Brood;
use crate::child::{self, bare};
use crate::clock::pause;
use crate::dice::Dice;
use crate::store::Where;

/// The word that makes this program a server. Not an option: people have no use for it.
const WORD: &str = "--server";

/// Databases, each shared by many conversations.
const DATABASES: [&str; 2] = ["store_0", "store_1"];

/// A server and its storms, gone when dropped.
#[derive(Debug)]
pub(crate) struct Server<'b> {
    process: Child,
    pid: Pid,
    brood: &'b Brood,
    say: Option<ChildStdin>,
    hear: BufReader<ChildStdout>,
    wired: String,
    direct: String,
}

impl<'b> Server<'b> {
    pub(crate) fn start(brood: &'b Brood, seed: u64) -> Result<Self> {
        let ourselves = std::env::current_exe().context("where is this program?")?;
        let mut command = bare(&ourselves);
        command.arg(WORD).arg(seed.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (pid, mut process) = brood.add(|| {
            let process = command.spawn().context("the server cannot be started")?;
            let pid = child::pid(&process)?;
            Ok((pid, (pid, process)))
        })?;
        let hear = process.stdout.take().context("the server says nothing")?;
        let say = process.stdin.take();
        let mut server = Self {
            process,
            pid,
            brood,
            say,
            hear: BufReader::new(hear),
            wired: String::new(),
            direct: String::new(),
        };
        let place = server.line()?;
        let Some((wired, direct)) = place.trim().split_once(' ') else {
            bail!("PostgreSQL does not start; what it said is above")
        };
        (server.wired, server.direct) = (wired.to_owned(), direct.to_owned());
        Ok(server)
    }

    /// Its databases.
    pub(crate) fn stores(&self) -> Vec<Where> {
        let at = |base: &str, name: &str| format!("{base}/{name}");
        let databases = DATABASES.iter().map(|name| Where::Server {
            wired: at(&self.wired, name),
            direct: at(&self.direct, name),
        });
        databases.collect()
    }

    /// Ends the storms; gives how many there were, for people.
    pub(crate) fn calm(&mut self) -> Result<String> {
        let say = self.say.as_mut().context("the server is gone")?;
        writeln!(say, "calm")?;
        self.line()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.hear.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        drop(self.say.take());
        let _ = self.process.wait();
        self.brood.remove(self.pid);
    }
}

/// The seed of the storms, if this process is a server.
pub(crate) fn asked_for() -> Option<u64> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == WORD).then(|| words.next()?.to_str()?.parse().ok()).flatten()
}

/// Is the server until the other end is closed.
pub(crate) fn serve(seed: u64) -> Result<ExitCode> {
    set_child_subreaper(Some(getpid())).context("orphans cannot be gathered")?;
    let cluster = Cluster::start(Disk::Synced)?;
    let proxy = Proxy::to(cluster.port())?;
    make_databases(&cluster.url("postgres"))?;
    let address = |port: u16| format!("postgres://windlass@127.0.0.1:{port}");
    println!("{} {}", address(proxy.port()), address(cluster.port()));
    let heard = listen()?;
    let mut storms = Storms { cluster, proxy, dice: Dice::new(seed, 0), crashes: 0, freezes: 0 };
    while heard.recv_timeout(storms.lull()) == Err(RecvTimeoutError::Timeout) {
        storms.strike()?;
    }
    println!(
        "the wire cut {} times, the server crashed {} times and frozen {} times",
        storms.proxy.cuts(),
        storms.crashes,
        storms.freezes
    );
    // Nothing more is ever said: this returns when the other end is closed.
    while heard.recv().is_ok() {}
    Ok(ExitCode::SUCCESS)
}

fn make_databases(url: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for name in DATABASES {
        runtime.block_on(windlass_cluster::ask(url, &format!("CREATE DATABASE {name}")))?;
    }
    Ok(())
}

/// Lines as they come; closed with the other end.
fn listen() -> Result<Receiver<()>> {
    let (tell, heard) = channel();
    std::thread::Builder::new().spawn(move || {
        let lines = std::io::stdin().lines();
        lines.map_while(Result::ok).take_while(|_| tell.send(()).is_ok()).for_each(drop);
    })?;
    Ok(heard)
}

struct Storms {
    cluster: Cluster,
    proxy: Proxy,
    dice: Dice,
    crashes: u64,
    freezes: u64,
}

impl Storms {
    /// How long until the next one.
    fn lull(&mut self) -> Duration {
        Duration::from_millis(self.dice.between(150, 1_200))
    }

    fn strike(&mut self) -> Result<()> {
        match self.dice.between(1, 100) {
            1..=8 => {
                self.crashes += 1;
                self.cluster.restart(Stop::Immediate)
            }
            9..=20 => {
                self.freezes += 1;
                let frozen = self.cluster.freeze()?;
                pause(Duration::from_millis(self.dice.between(100, 700)));
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
