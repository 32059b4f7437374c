//! The processes of the benchmark: the server, and one for every measurement.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

#[expect(clippy::disallowed_methods, reason = "the bench measures processes of its own")]
fn own_command(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// The server process, ended when dropped.
pub struct ServerProcess {
    child: Child,
    one: String,
    two: String,
}

impl ServerProcess {
    /// Starts this binary again with the argument `serve`.
    pub fn start() -> Result<Self> {
        let mut child = own_command(&["serve"])?.stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().context("the server says nothing")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let (one, two) = line.trim().split_once(' ').context("the server has no ports")?;
        Ok(Self { one: one.to_owned(), two: two.to_owned(), child })
    }

    /// The URL of the server for a contender.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        let place = if name == "usual-h2" { &self.two } else { &self.one };
        format!("http://{place}")
    }

    /// Connections opened since the last call.
    pub fn connections(&self) -> Result<usize> {
        let mut stream = TcpStream::connect(&self.one)?;
        stream.write_all(b"GET /connections HTTP/1.1\r\nhost: x\r\n\r\n")?;
        let mut answer = [0; 200];
        let read = stream.read(&mut answer)?;
        let text = String::from_utf8_lossy(answer.get(..read).unwrap_or_default()).into_owned();
        let count = text.rsplit("\r\n\r\n").next().context("no count")?;
        Ok(count.trim().parse()?)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a measurement in a process of its own, and parses the numbers it prints.
pub fn run_measurement(arguments: &[&str]) -> Result<Vec<f64>> {
    let output = own_command(arguments)?.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "`{}` failed", arguments.join(" "));
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}
