//! Webhooks: told of every end, signed, again after a failure, and not lost by a crash.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::server_process::{ServerHome, on_both_stores, wait_until};

const ECHO: &str = "when user contains \"ask\" and results 0\n  call Write {\"file_path\": \"x\", \"content\": \"y\"}\n\nwhen any\n  say \"You said: ${user}\"\n";

/// A message that a receiver got: its headers and its body.
type Received = (Vec<(String, String)>, Value);

/// A receiver of webhooks that answers its first requests with 500.
struct Receiver {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    fn start(failures: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for (nth, stream) in listener.incoming().enumerate() {
                let Ok(stream) = stream else { continue };
                let message = read_message(&stream);
                let line = if nth < failures { "500 No" } else { "200 OK" };
                if nth >= failures {
                    kept.lock().unwrap().push(message);
                }
                let answer = format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n");
                let _ = (&stream).write_all(answer.as_bytes());
            }
        });
        Self { port, received }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    fn events(&self) -> Vec<String> {
        let received = self.received.lock().unwrap();
        received.iter().map(|(_, body)| body["type"].as_str().unwrap().to_owned()).collect()
    }
}

fn read_message(stream: &std::net::TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.trim_end().split_once(": ") {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (headers, serde_json::from_slice(&body).unwrap())
}

/// Lets the server reach the receiver, which is not public.
fn allow_local(home: &ServerHome, receiver: &Receiver) {
    std::fs::create_dir_all(home.path("home")).unwrap();
    let config = format!("[web]\nlocal_hosts = [\"127.0.0.1:{}\"]\n", receiver.port);
    std::fs::write(home.path("home/config.toml"), config).unwrap();
}

// spec: SERVER-10
#[test]
fn every_end_is_told_although_the_server_is_killed_and_the_receiver_fails() {
    on_both_stores(ECHO, |home, store| {
        let receiver = Receiver::start(1);
        allow_local(home, &receiver);
        // The server that accepts the webhook and the prompts drives nothing.
        let server = home.serve_store(store, &["--no-worker"]);
        let made = server.post("/v1/webhooks", &json!({"url": receiver.url()}));
        assert_eq!(made.status, 201, "{}", made.body);
        let made = made.json();
        assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
        let place = format!("/v1/webhooks/{}", made["webhook_id"].as_str().unwrap());
        assert_eq!(server.get(&place).json().get("secret"), None);
        let send = |prompt: &str| {
            let sent = server.post("/v1/conversations", &json!({"prompt": prompt}));
            assert_eq!(sent.status, 202, "{}", sent.body);
            sent.json()["conversation_id"].as_str().unwrap().to_owned()
        };
        let conversations = ["hello", "ask"].map(send);
        server.kill();
        // The runs go on while no server is there to tell anybody.
        for id in conversations {
            let flags = ["--script", "a.script", "--store", store, "--when-asked", "park"];
            home.run(&[&["resume", &id], &flags[..]].concat());
        }
        let server = home.serve_store(store, &[]);
        wait_until("both are told", || receiver.events().len() >= 2);
        let mut events = receiver.events();
        events.sort();
        assert_eq!(events, ["run.finished", "run.waiting"]);
        let deliveries = server.get(&format!("{place}/deliveries")).json();
        let attempts: Vec<u64> = deliveries["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["attempts"].as_u64().unwrap())
            .collect();
        assert_eq!(attempts.iter().sum::<u64>(), 3, "{deliveries}");
        let received = receiver.received.lock().unwrap();
        for (headers, body) in received.iter() {
            let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|it| &it.1);
            assert!(header("webhook-signature").unwrap().starts_with("v1,"));
            assert!(header("webhook-id").unwrap().starts_with("msg_"));
            assert!(body["data"]["run_id"].is_string(), "{body}");
        }
        let ids: Vec<_> = received.iter().map(|(headers, _)| &headers[0]).collect();
        assert_eq!(ids.len(), 2);
    });
}

#[test]
fn addresses_that_are_not_public_are_refused() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&["--no-worker"]);
    for url in [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
        "http://0x7f.1/",
        "file:///etc/passwd",
        "http://user:pass@example.com/",
        "nothing",
        "",
    ] {
        let refused = server.post("/v1/webhooks", &json!({"url": url}));
        assert_eq!(
            (refused.status, refused.problem()),
            (400, "invalid_request".to_owned()),
            "{url}"
        );
    }
    assert_eq!(server.get("/v1/webhooks").json()["data"], json!([]));
}
