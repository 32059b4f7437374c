//! An editor that writes and reads raw lines.
#![expect(clippy::indexing_slicing, reason = "a message without the field fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::test_home::TestHome;

/// An editor that writes and reads raw lines.
pub(crate) struct RawEditor {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
    last_id: u64,
    /// Answers that arrived while another one was awaited: requests are answered in any order.
    early_answers: Vec<Value>,
    /// The updates of sessions that were shown.
    pub(crate) updates: Vec<Value>,
    /// The permission requests.
    pub(crate) questions: Vec<Value>,
    /// The option that is selected.
    pub(crate) choice: &'static str,
    /// What is typed in the editor and not saved, by the name of the file.
    pub(crate) open_text: Option<(&'static str, String)>,
}

impl RawEditor {
    pub(crate) fn start(home: &TestHome) -> Self {
        let store = home.path("w.db");
        let args = ["acp", "--script", "a.script", "--store", store.to_str().unwrap()];
        let mut command = home.command(&args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self {
            child,
            input,
            output: BufReader::new(output),
            last_id: 0,
            early_answers: Vec::new(),
            updates: Vec::new(),
            questions: Vec::new(),
            choice: "allow",
            open_text: None,
        }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the output ended");
        serde_json::from_str(&line).unwrap()
    }

    /// Reads up to the answer to a request; answers what is asked meanwhile.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(index) = self.early_answers.iter().position(|answer| answer["id"] == id) {
            return self.early_answers.swap_remove(index);
        }
        loop {
            let message = self.next();
            match message.get("method").and_then(Value::as_str) {
                Some("session/update") => self.updates.push(message["params"]["update"].clone()),
                Some(method) => self.answer_agent(method, &message),
                None if message["id"] == id => return message,
                None => self.early_answers.push(message),
            }
        }
    }

    fn answer_agent(&mut self, method: &str, message: &Value) {
        let path = message.pointer("/params/path").and_then(Value::as_str).unwrap_or_default();
        let open = self.open_text.as_mut().filter(|(name, _)| path.ends_with(*name));
        let result = match (method, open) {
            ("session/request_permission", _) => {
                self.questions.push(message["params"].clone());
                json!({"outcome": {"outcome": "selected", "optionId": self.choice}})
            }
            ("fs/read_text_file", Some((_, text))) => json!({"content": text}),
            ("fs/write_text_file", Some((_, text))) => {
                *text = message["params"]["content"].as_str().unwrap().to_owned();
                json!({})
            }
            _ => {
                let error = json!({"code": -32_002, "message": "not open"});
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                return;
            }
        };
        self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    }

    /// The updates of a kind.
    pub(crate) fn shown(&self, kind: &str) -> Vec<&Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// The text of the agent.
    pub(crate) fn text(&self) -> String {
        let chunks = self.shown("agent_message_chunk");
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    /// Reads up to the next error that belongs to no request.
    pub(crate) fn stray_error(&mut self) -> i64 {
        loop {
            let message = self.next();
            if message["id"].is_null()
                && let Some(code) = message.pointer("/error/code").and_then(Value::as_i64)
            {
                return code;
            }
        }
    }

    pub(crate) fn open_session(&mut self, home: &TestHome) -> String {
        let fs = json!({"readTextFile": true, "writeTextFile": true});
        let offered = if self.open_text.is_some() { json!({"fs": fs}) } else { json!({}) };
        let handshake = json!({"protocolVersion": 1, "clientCapabilities": offered});
        let id = self.request("initialize", &handshake);
        self.answer(id);
        let place = json!({"cwd": home.path("").to_str().unwrap(), "mcpServers": []});
        let id = self.request("session/new", &place);
        let opened = self.answer(id);
        opened["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// Sends a prompt and returns its stop reason.
    pub(crate) fn run(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text);
        let answer = self.answer(id);
        answer["result"]["stopReason"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn close(mut self) -> i32 {
        drop(self.input.take());
        self.output.read_to_end(&mut Vec::new()).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}
