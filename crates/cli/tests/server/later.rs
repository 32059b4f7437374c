//! What happens later or beside runs: deferred prompts, schedules, files, scores, notes, and what is
//! done to many runs at once.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, ServerProcess, on_both_stores, wait_until};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

const WRITE: &str = "when ask 1\n  call Write {\"file_path\": \"note.txt\", \"content\": \"hello\"}\n\
     when any\n  say \"done\"\n";

fn run_path(accepted: &Value) -> String {
    format!("/v1/runs/{}", accepted["run_id"].as_str().unwrap())
}

/// The time in so many seconds, as requests have it.
#[expect(clippy::disallowed_methods, reason = "the server compares with the wall clock")]
fn in_seconds(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
}

fn data(server: &ServerProcess, path: &str) -> Vec<Value> {
    let found = server.get(path);
    assert_eq!(found.status, 200, "{path}: {}", found.body);
    found.json()["data"].as_array().unwrap().clone()
}

#[test]
fn a_prompt_waits_for_its_time_and_survives_a_crash() {
    on_both_stores(ECHO, |home, store| {
        let server = home.serve_store(store, &[]);
        let send = |body: &Value, key: &str| {
            server.request_with(
                "POST",
                "/v1/conversations",
                &[("idempotency-key", key)],
                Some(body),
            )
        };
        let soon = json!({"prompt": "soon", "deliver_at": in_seconds(2), "tags": ["t"]});
        let accepted = send(&soon, "a");
        assert_eq!(accepted.status, 202, "{}", accepted.body);
        let accepted = accepted.json();
        let run = server.get(&run_path(&accepted)).json();
        assert_eq!((&run["state"], &run["prompt"]), (&json!("queued"), &json!("soon")), "{run}");
        assert!(run["deliver_at"].is_string(), "{run}");
        assert_eq!(send(&soon, "a").json(), accepted);
        let other = json!({"prompt": "other", "deliver_at": in_seconds(2)});
        assert_eq!(send(&other, "a").status, 422);
        // One that is taken back is not delivered.
        let never = send(&json!({"prompt": "never", "deliver_at": in_seconds(3_600)}), "b").json();
        let cancel = format!("{}/cancel", run_path(&never));
        assert_eq!(server.post(&cancel, &json!({})).status, 202);
        assert_eq!(server.get(&run_path(&never)).status, 404);
        let nonsense = json!({"prompt": "x", "deliver_at": "tomorrow"});
        assert_eq!(send(&nonsense, "c").status, 400);
        server.kill();
        let server = home.serve_store(store, &[]);
        wait_until("the prompt is delivered", || {
            server.get(&run_path(&accepted)).json()["state"] == "completed"
        });
        let run = server.get(&run_path(&accepted)).json();
        assert_eq!((&run["deliver_at"], &run["tags"]), (&Value::Null, &json!(["t"])), "{run}");
        assert_eq!(data(&server, "/v1/runs?tag=t").len(), 1);
    });
}

#[test]
fn schedules_send_their_prompts_once() {
    let home = ServerHome::new(ECHO);
    let (server, other) = (home.serve(&[]), home.serve(&["--no-worker"]));
    for bad in [
        json!({"name": "x", "cron": "61 * * * *", "prompt": "p"}),
        json!({"name": "x", "cron": "* * * * *", "prompt": " "}),
        json!({"name": "", "cron": "* * * * *", "prompt": "p"}),
        json!({"name": "x", "cron": "* * * * *", "prompt": "p", "time_zone": "Mars/Base"}),
        json!({"name": "x", "cron": "* * * * *", "prompt": "p", "conversation_id": "none"}),
    ] {
        let refused = server.post("/v1/schedules", &bad).status;
        assert!(matches!(refused, 400 | 404), "{bad}: {refused}");
    }
    let every_minute = json!({"name": "tick", "cron": "* * * * *", "prompt": "report",
        "labels": {"tags": ["tick"]}});
    let made = server.post("/v1/schedules", &every_minute);
    assert_eq!(made.status, 201, "{}", made.body);
    let place = made.header("location").unwrap().to_owned();
    wait_until("the schedule fires", || server.get(&place).json()["last_run_id"].is_string());
    let shown = server.get(&place).json();
    assert_eq!(shown["last_error"], Value::Null, "{shown}");
    let run = format!("/v1/runs/{}", shown["last_run_id"].as_str().unwrap());
    wait_until("its run ends", || server.get(&run).json()["state"] == "completed");
    assert_eq!(data(&other, "/v1/runs?tag=tick").len(), 1);
    let paused = json!({"name": "tick", "cron": "* * * * *", "prompt": "p", "is_paused": true});
    let replaced = server.request("PUT", &place, Some(&paused)).json();
    assert_eq!((&replaced["next_at"], &replaced["is_paused"]), (&Value::Null, &json!(true)));
    assert_eq!(server.request("DELETE", &place, None).status, 204);
    assert_eq!(data(&server, "/v1/schedules"), [] as [Value; 0]);
}

#[test]
fn files_reach_the_model() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let file = json!({"name": "a.txt", "media_type": "text/plain", "data": "c2VjcmV0IHBsYW4="});
    let file = server.post("/v1/files", &file).json();
    assert_eq!((&file["size"], &file["name"]), (&json!(11), &json!("a.txt")), "{file}");
    let prompt = json!({"prompt": "read it", "files": [file["file_id"]]});
    let accepted = server.post("/v1/conversations", &prompt).json();
    wait_until("the end", || server.get(&run_path(&accepted)).json()["state"] == "completed");
    let answer = server.get(&run_path(&accepted)).json()["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("secret plan") && answer.contains("read it"), "{answer}");
    for bad in [
        json!({"name": "a", "media_type": "text/plain", "data": "%%%"}),
        json!({"name": "a", "media_type": "application/zip", "data": "YQ=="}),
        json!({"name": "a\n", "media_type": "text/plain", "data": "YQ=="}),
        json!({"name": "a", "media_type": "text/plain", "data": "/w=="}),
    ] {
        assert_eq!(server.post("/v1/files", &bad).status, 400, "{bad}");
    }
    // Larger than other bodies may be, and larger than files may be.
    let large = |bytes: usize| {
        let data = "QUFB".repeat(bytes / 3);
        json!({"name": "a", "media_type": "text/plain", "data": data})
    };
    assert_eq!(server.post("/v1/files", &large(5 << 20)).status, 201);
    assert_eq!(server.post("/v1/files", &large(11 << 20)).status, 413);
    let missing = json!({"prompt": "x", "files": ["nothing"]});
    assert_eq!(server.post("/v1/conversations", &missing).status, 400);
}

#[test]
fn runs_have_scores_and_notes() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let run = run_path(&server.post("/v1/conversations", &json!({"prompt": "hello"})).json());
    let score = json!({"name": "correct", "value": 0.5, "comment": "half"});
    let scored = server.post(&format!("{run}/scores"), &score);
    assert_eq!((scored.status, &scored.json()["by"]), (201, &json!("token file")));
    assert_eq!(server.post(&format!("{run}/notes"), &json!({"text": "look"})).status, 201);
    assert_eq!(server.post(&format!("{run}/notes"), &json!({"text": ""})).status, 400);
    assert_eq!(data(&server, &format!("{run}/scores"))[0]["value"], 0.5);
    assert_eq!(data(&server, &format!("{run}/notes"))[0]["text"], "look");
}

#[test]
fn many_runs_are_cancelled_and_many_questions_answered_at_once() {
    let home = ServerHome::new(WRITE);
    let server = home.serve(&[]);
    let send = |prompt: &str| {
        let body = json!({"prompt": prompt, "tags": ["many"]});
        server.post("/v1/conversations", &body).json()
    };
    let runs: Vec<Value> = ["one", "two", "three"].map(send).into();
    wait_until("all ask", || data(&server, "/v1/questions").len() == 3);
    let hash = data(&server, "/v1/questions")[0]["input_hash"].clone();
    assert_eq!(server.post("/v1/runs/cancel", &json!({})).status, 400);
    let cancelled = server.post("/v1/runs/cancel", &json!({"text": "three"})).json();
    assert_eq!(cancelled["data"].as_array().unwrap().len(), 1, "{cancelled}");
    assert_eq!(cancelled["data"][0]["run_id"], runs[2]["run_id"]);
    wait_until("one is cancelled", || {
        server.get(&run_path(&runs[2])).json()["state"] == "cancelled"
    });
    let answer = |tool: &str, hash: &Value| {
        let body = json!({"tool_name": tool, "input_hash": hash, "answer": "allow"});
        server.post("/v1/questions/answer", &body)
    };
    assert_eq!(answer("Bash", &hash).problem(), "question_closed");
    assert_eq!(answer("Write", &json!("0")).problem(), "question_closed");
    let answered = answer("Write", &hash);
    assert_eq!(answered.status, 202, "{}", answered.body);
    assert_eq!(answered.json()["data"].as_array().unwrap().len(), 2);
    wait_until("both end", || data(&server, "/v1/runs?state=completed&tag=many").len() == 2);
    assert_eq!(answer("Write", &hash).problem(), "question_closed");
    let resumed = server.post("/v1/runs/resume", &json!({"tag": "many"})).json();
    assert_eq!(resumed["data"].as_array().unwrap().len(), 0, "{resumed}");
}
