//! `windlass scripted`: one line on standard output, one per request on standard error, a clean
//! exit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::test_home::TestHome;

const HELLO: &str = "when user is \"busy\"\n  fail 529\nwhen any\n  say \"hello\"\n";

/// The server, killed when the test ends in any way.
pub(crate) struct ScriptedServer {
    child: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl ScriptedServer {
    #[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
    pub(crate) fn start(home: &TestHome, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .arg("scripted")
            .arg("--script")
            .arg(home.path("a.script"))
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, out, address }
    }

    /// Sends one request and returns the whole response.
    fn send_request(&self, text: &str) -> String {
        let message = format!(r#"{{"role": "user", "content": "{text}"}}"#);
        let body = format!(r#"{{"model": "m", "max_tokens": 9, "messages": [{message}]}}"#);
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal; returns the exit code, and the rest of both outputs.
    #[expect(clippy::disallowed_methods, reason = "std has no signals")]
    fn stop(&mut self, signal: &str) -> (Option<i32>, String, String) {
        let pid = self.child.id().to_string();
        let sent = Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", signal, &pid]).status();
        assert!(sent.unwrap().success());
        let code = self.child.wait().unwrap().code();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (code, out, err)
    }
}

#[test]
fn it_says_where_it_is_and_what_it_served_and_ends_cleanly() {
    let home = TestHome::new(HELLO);
    for signal in ["TERM", "INT"] {
        let mut server = ScriptedServer::start(&home, &["--port", "0"]);
        assert!(server.address.starts_with("127.0.0.1:"), "{}", server.address);
        let answer = server.send_request("hi");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("hello"), "{answer}");
        assert!(server.send_request("busy").starts_with("HTTP/1.1 529"));
        let (code, out, err) = server.stop(signal);
        assert_eq!((code, out.as_str()), (Some(0), ""));
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), 2, "{err}");
        assert!(lines[0].starts_with("POST /v1/messages 200 end_turn ("), "{err}");
        assert!(lines[1].starts_with("POST /v1/messages 529 scripted fault 529 ("), "{err}");
    }
}

#[test]
fn it_listens_on_loopback_only() {
    let home = TestHome::new(HELLO);
    let server = ScriptedServer::start(&home, &["--host", "localhost"]);
    assert!(server.address.starts_with("127.0.0.1:"));
    for (host, says) in [("0.0.0.0", "other machines"), ("example.org", "is not an IP address")] {
        let ran = home.run_bare(&["scripted", "--script", "a.script", "--host", host]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.lines().count() == 1, "{}", ran.err);
    }
}

#[test]
fn a_port_that_is_taken_and_a_bad_script_are_one_sentence() {
    let home = TestHome::new(HELLO);
    let server = ScriptedServer::start(&home, &[]);
    let port = server.address.rsplit(':').next().unwrap();
    let ran = home.run_bare(&["scripted", "--script", "a.script", "--port", port]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("cannot listen on") && ran.err.contains("port 0"), "{}", ran.err);
    home.write("a.script", "when any\n  shout \"x\"\n");
    let ran = home.run_bare(&["scripted", "--script", "a.script"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("line 2"), "{}", ran.err);
}
