//! A server that answers every model call with a short text and records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::test_home::{CommandOutput, TestHome};

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct RecordingServer {
    pub(crate) url: String,
    sent: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl RecordingServer {
    /// Starts a server that lives as long as the test's process.
    pub(crate) fn start() -> Self {
        Self::start_failing(&[])
    }

    /// Starts a server that answers the first requests with these responses: a status line, and a
    /// body.
    pub(crate) fn start_failing(first: &[(&'static str, &'static str)]) -> Self {
        let mut first = first.to_vec();
        first.reverse();
        let first = Arc::new(Mutex::new(first));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&sent);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, first) = (Arc::clone(&kept), Arc::clone(&first));
                std::thread::spawn(
                    move || while handle_request(&stream, &kept, &first).is_some() {},
                );
            }
        });
        Self { url, sent }
    }

    /// All requests, oldest first.
    pub(crate) fn recorded_requests(&self) -> Vec<RecordedRequest> {
        self.sent.lock().unwrap().clone()
    }

    /// Runs a prompt with keys for every provider at this address, and returns the first request
    /// for the model.
    pub(crate) fn run_prompt(
        &self,
        place: &TestHome,
        more: &[&str],
    ) -> (RecordedRequest, CommandOutput) {
        let ran =
            place.run_with_env(&[&["-p", "hi", "--store", "w.db"], more].concat(), &self.keys());
        assert_eq!(ran.code, 0, "{more:?}: {}", ran.err);
        let sent = std::mem::take(&mut *self.sent.lock().unwrap());
        (sent.into_iter().next().unwrap(), ran)
    }

    /// The environment variables that direct every provider to this server.
    pub(crate) fn keys(&self) -> [(&str, &str); 8] {
        [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_BASE_URL", &self.url),
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", &self.url),
            ("GEMINI_API_KEY", "k"),
            ("GEMINI_BASE_URL", &self.url),
            ("AZURE_OPENAI_API_KEY", "k"),
            ("AZURE_OPENAI_ENDPOINT", &self.url),
        ]
    }
}

type Answers = Mutex<Vec<(&'static str, &'static str)>>;

fn handle_request(
    mut stream: &TcpStream,
    kept: &Mutex<Vec<RecordedRequest>>,
    first: &Answers,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
    let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let (status, text) = match first.lock().unwrap().pop() {
        Some((status, text)) => (status, text.to_owned()),
        None => ("200 OK", reply_to(&head)),
    };
    kept.lock().unwrap().push(RecordedRequest { head, body: serde_json::from_slice(&body).ok()? });
    let kind = if text.starts_with("event:") { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length");
    stream.write_all(format!("{head}: {}\r\n\r\n{text}", text.len()).as_bytes()).ok()
}

fn reply_to(head: &str) -> String {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let reply = if path.ends_with("/count_tokens") {
        json!({"input_tokens": 4_321})
    } else if path.ends_with("/messages") {
        json!({"content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn",
               "usage": {"input_tokens": 10, "output_tokens": 2}})
    } else if path.ends_with("/responses") {
        json!({"status": "completed", "usage": {"input_tokens": 10, "output_tokens": 2},
               "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}]})
    } else {
        json!({"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}],
               "usage": {"prompt_tokens": 10, "completion_tokens": 2}})
    };
    reply.to_string()
}
