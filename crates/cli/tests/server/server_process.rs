//! A server of the real binary, in a folder of its own.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use windlass_cluster::{DiskMode, PostgresCluster};

use crate::http_client::{self, HttpResponse};

/// How long a test waits for other processes, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with a script, a store and the home of the programs that run in it.
pub(crate) struct ServerHome {
    dir: TempDir,
}

/// A running server. It is killed with the test.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) notes: Option<BufReader<ChildStderr>>,
}

impl ServerHome {
    pub(crate) fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.script"), script).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The binary, to be started by the test.
    #[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("WINDLASS_HOME", self.path("home"))
            .env("HOME", self.path("user"))
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Starts a server on the store of this folder.
    pub(crate) fn serve(&self, more: &[&str]) -> ServerProcess {
        self.serve_store("w.db", more)
    }

    /// Starts a server on a store.
    pub(crate) fn serve_store(&self, store: &str, more: &[&str]) -> ServerProcess {
        let args = ["serve", "--listen", "127.0.0.1:0", "--script", "a.script", "--store", store];
        let mut command = self.command(&[&args[..], more].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let address = line.trim_end().strip_prefix("http://").map(str::to_owned);
        let Some(address) = address else {
            let mut told = String::new();
            std::io::Read::read_to_string(&mut notes, &mut told).unwrap();
            panic!("the server did not start: {line}{told}")
        };
        let token = std::fs::read_to_string(self.path("home/server-token")).unwrap_or_default();
        let token = token.trim_end().to_owned();
        ServerProcess { child, address, token, notes: Some(notes) }
    }
}

impl ServerProcess {
    /// Sends a request with the token.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> HttpResponse {
        self.request_with(method, path, &[], body)
    }

    /// Sends a request with the token and more headers.
    pub(crate) fn request_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> HttpResponse {
        let head = self.head_with(method, path, headers);
        let text = body.map(Value::to_string).unwrap_or_default();
        let about = match body {
            Some(_) => {
                format!("content-type: application/json\r\ncontent-length: {}\r\n", text.len())
            }
            None => String::new(),
        };
        http_client::send_raw(&self.address, format!("{head}{about}\r\n{text}").as_bytes())
    }

    /// Sends a request with another token than that of the server's file.
    pub(crate) fn request_as(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> HttpResponse {
        let address = &self.address;
        let text = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        );
        http_client::send_raw(address, head.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> HttpResponse {
        self.request("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.request("POST", path, Some(body))
    }

    /// The head of a request with the token, without its last empty line.
    pub(crate) fn head_with(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let (address, token) = (&self.address, &self.token);
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n"
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    /// Sends SIGTERM and waits for the end; returns what was written on standard error.
    pub(crate) fn stop(mut self) -> (ExitStatus, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut told = String::new();
        std::io::Read::read_to_string(&mut self.notes.take().unwrap(), &mut told).unwrap();
        (self.child.wait().unwrap(), told)
    }

    /// Kills the process, as a crash does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a test on a store of each kind.
pub(crate) fn on_both_stores(script: &str, test: fn(&ServerHome, &str)) {
    test(&ServerHome::new(script), "w.db");
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    test(&ServerHome::new(script), &cluster.url("postgres"));
}

/// Waits until a condition holds that other processes bring about.
#[expect(clippy::disallowed_methods, reason = "the test watches real processes")]
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}
