//! Start and stop.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::server_process::{ServerHome, wait_until};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

#[test]
fn a_server_says_where_it_listens_and_stops_when_told() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    assert_eq!(server.get("/readyz").json(), json!({"status": "ok"}));
    let token_file = home.path("home/server-token");
    assert_eq!(token_file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let token = server.token.clone();
    let (ended, told) = server.stop();
    assert!(ended.success(), "{ended}: {told}");
    assert!(told.contains("server-token") && !told.contains(&token), "{told}");
    // The next start has the same token.
    let again = home.serve(&[]);
    assert_eq!(again.token, token);
    assert_eq!(again.get("/readyz").status, 200);
}

#[test]
fn a_server_without_a_worker_leaves_the_runs_to_others() {
    let home = ServerHome::new(ECHO);
    let sent = home.run(&["-p", "hi", "--detach", "--store", "w.db"]);
    assert!(sent.status.success(), "{sent:?}");
    let server = home.serve(&["--no-worker"]);
    assert_eq!(server.get("/readyz").status, 200);
    let state =
        || String::from_utf8(home.run(&["runs", "--store", "w.db", "--json"]).stdout).unwrap();
    assert!(state().contains("\"queued\""), "{}", state());
    let (ended, told) = server.stop();
    assert!(ended.success(), "{ended}: {told}");
    let worker = home.serve(&[]);
    crate::server_process::wait_until("the run", || state().contains("\"completed\""));
    drop(worker);
}

/// What the binary says about a server that does not start, and its exit code.
fn refusal(home: &ServerHome, args: &[&str]) -> (i32, String) {
    let store = ["--script", "a.script", "--store", "w.db"];
    let ran = home.run(&[&["serve"], args, &store].concat());
    assert!(ran.stdout.is_empty(), "{ran:?}");
    (ran.status.code().unwrap(), String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn other_machines_are_served_only_with_a_token_and_tls_that_were_chosen() {
    // Attack case 82.
    let home = ServerHome::new(ECHO);
    let (code, told) = refusal(&home, &["--listen", "0.0.0.0:0"]);
    assert!(code == 2 && told.contains("give one with --token-file"), "{code} {told}");
    let (code, told) = refusal(&home, &["--listen", "[::]:0", "--insecure-http"]);
    assert!(code == 2 && told.contains("give one with --token-file"), "{code} {told}");
    let token = home.path("token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef\n").unwrap();
    let given = ["--listen", "0.0.0.0:0", "--token-file", "token"];
    let (code, told) = refusal(&home, &given);
    assert!(code == 2 && told.contains("run `chmod 600` on it"), "{code} {told}");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (code, told) = refusal(&home, &given);
    assert!(code == 2 && told.contains("--tls-cert FILE"), "{code} {told}");
    let (code, told) = refusal(&home, &["--token-file", "nothing"]);
    assert!(code == 2 && told.contains("cannot use the token file nothing"), "{code} {told}");
    let (code, told) = refusal(&home, &["--allowed-host", "https://example.com"]);
    assert!(code == 2 && told.contains("not a valid value for --allowed-host"), "{code} {told}");
    assert!(!home.path("w.db").exists(), "nothing is stored");
}

#[test]
fn a_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let home = ServerHome::new(ECHO);
    let socket = UnixDatagram::bind(home.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let receive = || {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    };
    let args = ["serve", "--listen", "127.0.0.1:0", "--script", "a.script", "--store", "w.db"];
    let mut command = home.command(&args);
    command.env("NOTIFY_SOCKET", home.path("notify")).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    assert_eq!(receive(), "READY=1");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(receive(), "STOPPING=1");
    assert!(child.wait().unwrap().success());
}

const SEARCH: &str = "when user contains \"look\" and results 0\n  call Grep {\"pattern\": \"when\"}\n  \
     call Read {\"file_path\": \"w.db\"}\n  call Read {\"file_path\": \"w.db-shm\"}\nwhen error\n  \
     say \"refused: ${result}\"\nwhen any\n  say \"done\"\n";

#[test]
fn a_store_in_the_workspace_keeps_its_locks_when_tools_read_everything() {
    let home = ServerHome::new(SEARCH);
    let server = home.serve(&[]);
    let send = |prompt: &str| server.post("/v1/conversations", &json!({"prompt": prompt}));
    let sent = send("look around");
    assert_eq!(sent.status, 202);
    let run = format!("/v1/runs/{}", sent.json()["run_id"].as_str().unwrap());
    wait_until("the end", || !server.get(&run).json()["stop_cause"].is_null());
    let answer = server.get(&run).json()["answer"].as_str().unwrap().to_owned();
    assert!(answer.starts_with("refused: "), "{answer}");
    // A process that closes the store as the last one removes its write-ahead log; the server still
    // has it open.
    for _ in 0..3 {
        assert!(home.run(&["token", "list", "--store", "w.db"]).status.success());
        assert!(home.path("w.db-wal").exists());
    }
    assert_eq!(send("again").status, 202);
    assert_eq!(server.get("/readyz").status, 200);
}
