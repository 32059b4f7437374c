//! Prompts over the API: accepted durably, once for each key, on both stores.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, ServerProcess, on_both_stores, wait_until};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

/// Sends a prompt with a key; returns the status and the body.
fn send(server: &ServerProcess, path: &str, key: &str, prompt: &str) -> (u16, Value) {
    let body = json!({"prompt": prompt});
    let sent = server.request_with("POST", path, &[("Idempotency-Key", key)], Some(&body));
    (sent.status, sent.json())
}

fn run_of(server: &ServerProcess, accepted: &Value) -> Value {
    server.get(&format!("/v1/runs/{}", accepted["run_id"].as_str().unwrap())).json()
}

fn wait_for_state(server: &ServerProcess, accepted: &Value, state: &str) {
    wait_until(state, || run_of(server, accepted)["state"] == state);
}

// spec: SERVER-07
#[test]
fn the_same_key_gives_the_same_answer_whatever_happens_in_between() {
    on_both_stores(ECHO, |home, store| {
        let server = home.serve_store(store, &["--no-worker"]);
        let (status, first) = send(&server, "/v1/conversations", "order 17", "hello");
        assert_eq!(status, 202, "{first}");
        assert_eq!(send(&server, "/v1/conversations", "order 17", "hello"), (202, first.clone()));
        let (status, refused) = send(&server, "/v1/conversations", "order 17", "goodbye");
        assert_eq!(
            (status, &refused["code"]),
            (422, &json!("idempotency_key_reused")),
            "{refused}"
        );
        let (_, other) = send(&server, "/v1/conversations", "order 18", "hello");
        assert_ne!(other["conversation_id"], first["conversation_id"]);
        assert_eq!(run_of(&server, &first)["state"], "queued");
        // The answer was given, so the prompt survives a crash; another server knows the key.
        server.kill();
        let server = home.serve_store(store, &[]);
        wait_for_state(&server, &first, "completed");
        assert_eq!(send(&server, "/v1/conversations", "order 17", "hello"), (202, first.clone()));
        let (status, refused) = send(&server, "/v1/conversations", "order 17", "goodbye");
        assert_eq!(
            (status, &refused["code"]),
            (422, &json!("idempotency_key_reused")),
            "{refused}"
        );
        let run = run_of(&server, &first);
        assert_eq!(run["answer"], "You said: hello");
        assert_eq!((&run["stop_cause"], &run["prompt"]), (&json!("end_turn"), &json!("hello")));
        // A further prompt of the conversation.
        let path =
            format!("/v1/conversations/{}/prompts", first["conversation_id"].as_str().unwrap());
        let (status, second) = send(&server, &path, "order 17", "more");
        assert_eq!((status, &second["conversation_id"]), (202, &first["conversation_id"]));
        assert_ne!(second["run_id"], first["run_id"]);
        wait_for_state(&server, &second, "completed");
        assert_eq!(send(&server, &path, "order 17", "more"), (202, second));
        let runs = server.get("/v1/runs").json();
        assert_eq!(runs["data"].as_array().unwrap().len(), 3, "{runs}");
    });
}

#[test]
fn prompts_that_make_no_sense_are_refused_with_what_to_do() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&["--no-worker"]);
    for (body, told) in [
        (json!({}), "missing field `prompt`"),
        (json!({"prompt": " "}), "`prompt` is empty"),
        (json!({"prompt": "x", "promt": "y"}), "unknown field `promt`"),
        (json!({"prompt": "x", "options": {"max_turn": 1}}), "unknown field `max_turn`"),
        (json!({"prompt": "x", "options": {"max_turns": 0}}), "`options.max_turns` is not valid"),
        (json!({"prompt": "x", "options": {"profile": "nothing"}}), "nothing"),
        (json!([1]), "the body is not what this resource takes"),
    ] {
        let refused = server.post("/v1/conversations", &body);
        assert_eq!(
            (refused.status, refused.problem().as_str()),
            (400, "invalid_request"),
            "{body}"
        );
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(told), "{body}: {detail}");
    }
    let missing = server.post("/v1/conversations/nothing/prompts", &json!({"prompt": "x"}));
    assert_eq!((missing.status, missing.problem().as_str()), (404, "not_found"));
    let wrong = server.request("PUT", "/v1/conversations", Some(&json!({})));
    assert_eq!((wrong.status, wrong.problem().as_str()), (405, "method_not_allowed"));
    let long = "k".repeat(256);
    let (status, refused) = send(&server, "/v1/conversations", &long, "x");
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_request")));
    assert_eq!(server.get("/v1/runs").json(), json!({"data": [], "next_cursor": null}));
}

#[test]
fn options_apply_to_the_run_of_their_prompt() {
    let home = ServerHome::new(
        "when ask 1\n  call Read {\"file_path\": \"a.script\"}\n\
         when ask 2\n  call Read {\"file_path\": \"b.script\"}\nwhen any\n  say \"done\"\n",
    );
    std::fs::write(home.path("b.script"), "x").unwrap();
    let server = home.serve(&[]);
    let short = json!({"prompt": "go", "options": {"max_turns": 1}});
    let limited = server.post("/v1/conversations", &short).json();
    wait_until("the end of the run", || !run_of(&server, &limited)["stop_cause"].is_null());
    assert_eq!(run_of(&server, &limited)["stop_cause"], "max_iters");
    let path =
        format!("/v1/conversations/{}/prompts", limited["conversation_id"].as_str().unwrap());
    let free = server.post(&path, &json!({"prompt": "go on"})).json();
    wait_until("the end of the run", || !run_of(&server, &free)["stop_cause"].is_null());
    assert_eq!(run_of(&server, &free)["stop_cause"], "end_turn");
}

#[test]
fn lists_have_parts_and_filters() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let sent: Vec<Value> = (0..5)
        .map(|n| server.post("/v1/conversations", &json!({"prompt": format!("number {n}")})).json())
        .collect();
    sent.iter().for_each(|accepted| wait_for_state(&server, accepted, "completed"));
    let list = |query: &str| server.get(&format!("/v1/runs{query}")).json();
    let count = |query: &str| list(query)["data"].as_array().unwrap().len();
    let mut seen = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = list(&query);
        let runs = page["data"].as_array().unwrap();
        seen.extend(runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    assert_eq!(count("?state=completed,failed"), 5);
    assert_eq!((count("?state=running"), count("?text=NUMBER%203")), (0, 1));
    assert_eq!((count("?model=scripted"), count("?model=other")), (5, 0));
    assert_eq!((count("?since_ms=1"), count("?until_ms=1")), (5, 0));
    let conversation = sent[0]["conversation_id"].as_str().unwrap();
    assert_eq!(count(&format!("?conversation_id={conversation}")), 1);
    for wrong in ["?limit=0", "?limit=501", "?state=asleep", "?stat=running", "?cursor=x"] {
        let refused = server.get(&format!("/v1/runs{wrong}"));
        assert_eq!(
            (refused.status, refused.problem().as_str()),
            (400, "invalid_request"),
            "{wrong}"
        );
    }
    let shown = server.get(&format!("/v1/conversations/{conversation}")).json();
    assert_eq!(
        (&shown["conversation_id"], &shown["active_run_id"]),
        (&json!(conversation), &Value::Null)
    );
    let path = format!("/v1/conversations/{conversation}");
    assert_eq!(send_delete(&server, &path), 204);
    assert_eq!(send_delete(&server, &path), 404);
    assert_eq!(count(""), 4);
}

fn send_delete(server: &ServerProcess, path: &str) -> u16 {
    let mut stream = crate::http_client::connect(&server.address);
    let head = server.head_with("DELETE", path, &[("connection", "close")]);
    std::io::Write::write_all(&mut stream, format!("{head}\r\n").as_bytes()).unwrap();
    let answered = crate::http_client::read_to_close(&mut stream);
    answered.split(' ').nth(1).unwrap().parse().unwrap()
}

const BACKGROUND: &str = r#"
when user contains "inner job"
  say "inner answer"

when user contains "outer job" and results 0
  call Agent {"description": "an inner job", "prompt": "do the inner job", "run_in_background": true}

when user contains "task-notification"
  say "heard: ${user}"

when any
  say "It is started."
"#;

// spec: CHILDREN-08
#[test]
fn the_result_of_a_sub_agent_in_the_background_starts_a_run() {
    on_both_stores(BACKGROUND, |home, store| {
        let server = home.serve_store(store, &["--allowedTools", "Agent"]);
        let (status, first) = send(&server, "/v1/conversations", "1", "outer job");
        assert_eq!(status, 202, "{first}");
        wait_for_state(&server, &first, "completed");
        assert_eq!(run_of(&server, &first)["answer"], "It is started.");
        let conversation = first["conversation_id"].as_str().unwrap().to_owned();
        let path = format!("/v1/runs?conversation_id={conversation}");
        let is_told = |run: &Value| {
            run["answer"].as_str().is_some_and(|answer| answer.contains("inner answer"))
        };
        wait_until("the second run", || {
            server.get(&path).json()["data"].as_array().is_some_and(|runs| runs.iter().any(is_told))
        });
    });
}
