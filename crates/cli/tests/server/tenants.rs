//! Tokens and tenants: who may do what, and what does not exist for others.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, ServerProcess, on_both_stores, wait_until};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

/// Creates a token with the command, as an operator does.
fn add_token(home: &ServerHome, store: &str, words: &[&str]) -> Value {
    let args = [&["token", "add", "--json", "--store", store], words].concat();
    let made = home.run(&args);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    serde_json::from_slice(&made.stdout).unwrap()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}")).to_owned()
}

/// The statuses of requests of each kind to what belongs to a conversation and its run.
fn statuses(server: &ServerProcess, token: &str, accepted: &Value) -> Vec<(String, u16)> {
    let (conversation, run) = (text(accepted, "conversation_id"), text(accepted, "run_id"));
    let conversation = format!("/v1/conversations/{conversation}");
    let run = format!("/v1/runs/{run}");
    let mut requests = vec![("DELETE", conversation.clone(), None)];
    for path in ["", "/messages", "/stream"] {
        requests.push(("GET", format!("{conversation}{path}"), None));
    }
    let gets = [
        "",
        "/stream",
        "/explain",
        "/trace",
        "/events",
        "/raw",
        "/journal",
        "/timeline",
        "/entries",
        "/scores",
        "/notes",
    ];
    requests.extend(gets.map(|path| ("GET", format!("{run}{path}"), None)));
    for action in ["cancel", "resume", "fork"] {
        requests.push(("POST", format!("{run}/{action}"), Some(json!({}))));
    }
    requests.push(("POST", format!("{run}/scores"), Some(json!({"name": "x", "value": 1.0}))));
    requests.push(("POST", format!("{run}/notes"), Some(json!({"text": "x"}))));
    let prompt = Some(json!({"prompt": "mine now"}));
    requests.push(("POST", format!("{conversation}/prompts"), prompt));
    let answer = Some(json!({"answer": "allow"}));
    requests.push(("POST", run.replace("/runs/", "/questions/") + "/1/answer", answer));
    let send = |(method, path, body): (&str, String, Option<Value>)| {
        let status = server.request_as(token, method, &path, body.as_ref()).status;
        (format!("{method} {path}"), status)
    };
    requests.into_iter().map(send).collect()
}

// spec: SERVER-09
#[test]
fn what_belongs_to_another_tenant_does_not_exist() {
    // Attack case 81.
    on_both_stores(ECHO, |home, store| {
        let mine =
            text(&add_token(home, store, &["mine", "--tenant", "a", "--scope", "admin"]), "token");
        let other =
            text(&add_token(home, store, &["other", "--tenant", "b", "--scope", "admin"]), "token");
        let server = home.serve_store(store, &[]);
        let send = |token: &str, body: &Value| {
            let sent = server.request_as(token, "POST", "/v1/conversations", Some(body));
            assert_eq!(sent.status, 202, "{}", sent.body);
            sent.json()
        };
        let accepted = send(&mine, &json!({"prompt": "secret", "tags": ["night"]}));
        let run = format!("/v1/runs/{}", text(&accepted, "run_id"));
        wait_until("the end of the run", || {
            server.request_as(&mine, "GET", &run, None).json()["state"] == "completed"
        });
        let late = json!({"prompt": "later", "deliver_at": "2999-01-01T00:00:00Z"});
        for accepted in [&accepted, &send(&mine, &late)] {
            for (what, status) in statuses(&server, &other, accepted) {
                assert_eq!(status, 404, "{what}");
            }
        }
        for (path, body) in [
            ("/v1/files", json!({"name": "a.txt", "media_type": "text/plain", "data": "YQ=="})),
            ("/v1/schedules", json!({"name": "s", "cron": "@daily", "prompt": "p"})),
        ] {
            let made = server.request_as(&mine, "POST", path, Some(&body));
            assert_eq!(made.status, 201, "{}", made.body);
            let place = made.header("location").unwrap().to_owned();
            assert_eq!(server.request_as(&mine, "GET", &place, None).status, 200);
            for method in ["GET", "DELETE"] {
                assert_eq!(server.request_as(&other, method, &place, None).status, 404, "{place}");
            }
        }
        // Lists have nothing of others; a filter finds nothing either.
        for path in [
            "/v1/runs",
            "/v1/runs?tag=night",
            "/v1/runs?text=secret",
            "/v1/questions",
            "/v1/events",
            "/v1/files",
            "/v1/schedules",
            "/v1/webhooks",
            "/v1/tenants",
        ] {
            let found = server.request_as(&other, "GET", path, None);
            assert_eq!((found.status, &found.json()["data"]), (200, &json!([])), "{path}");
        }
        let tagged = server.request_as(&mine, "GET", "/v1/runs?tag=night", None).json();
        assert_eq!(tagged["data"].as_array().unwrap().len(), 1, "{tagged}");
        assert_eq!(tagged["data"][0]["tags"], json!(["night"]));
        let tokens = server.request_as(&other, "GET", "/v1/tokens", None).json();
        assert_eq!(tokens["data"].as_array().unwrap().len(), 1, "{tokens}");
        for path in ["/v1/stats", "/v1/workers", "/metrics"] {
            assert_eq!(server.request_as(&other, "GET", path, None).status, 403, "{path}");
            assert_eq!(server.get(path).status, 200, "{path}");
        }
        // An operator sees all of it.
        let all = server.get("/v1/runs").json();
        assert_eq!(all["data"][0]["tenant"], "a", "{all}");
        let cancelled =
            server.request_as(&other, "POST", "/v1/runs/cancel", Some(&json!({"text": "s"})));
        assert_eq!(cancelled.json()["data"], json!([]));
    });
}

#[test]
fn tokens_do_what_their_scopes_say_until_they_are_revoked() {
    let home = ServerHome::new(ECHO);
    let reader = add_token(&home, "w.db", &["reader", "--scope", "read"]);
    let sender = text(&add_token(&home, "w.db", &["sender", "--scope", "prompt"]), "token");
    let server = home.serve(&["--no-worker"]);
    let read = text(&reader, "token");
    let prompt = json!({"prompt": "hello"});
    let send = |token: &str| server.request_as(token, "POST", "/v1/conversations", Some(&prompt));
    assert_eq!(server.request_as(&read, "GET", "/v1/runs", None).status, 200);
    assert_eq!((send(&read).status, send(&read).problem()), (403, "forbidden".to_owned()));
    assert_eq!(send(&sender).status, 202);
    assert_eq!(server.request_as(&sender, "GET", "/v1/runs", None).status, 403);
    for token in [&read, &sender] {
        assert_eq!(server.request_as(token, "GET", "/v1/tokens", None).status, 403);
    }
    // A token cannot make another one for a tenant that it does not see.
    let admin = add_token(&home, "w.db", &["admin", "--tenant", "a", "--scope", "admin"]);
    let admin = text(&admin, "token");
    let more = json!({"name": "x", "scopes": ["read"], "tenant": "default"});
    assert_eq!(server.request_as(&admin, "POST", "/v1/tokens", Some(&more)).status, 403);
    assert_eq!(server.request_as(&admin, "PUT", "/v1/tenants/a", Some(&json!({}))).status, 403);
    let more = json!({"name": "x", "scopes": ["read"]});
    let made = server.request_as(&admin, "POST", "/v1/tokens", Some(&more)).json();
    assert_eq!(made["tenant"], "a");
    let made_text = text(&made, "token");
    assert_eq!(server.request_as(&made_text, "GET", "/v1/runs", None).status, 200);
    let place = format!("/v1/tokens/{}", text(&made, "token_id"));
    assert_eq!(server.request_as(&admin, "DELETE", &place, None).status, 204);
    assert_eq!(server.request_as(&made_text, "GET", "/v1/runs", None).status, 401);
    assert_eq!(server.request_as(&admin, "DELETE", &place, None).status, 404);
    // The store has no text of a token, and neither does any list.
    let listed = home.run(&["token", "list", "--store", "w.db"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("reader") && !listed.contains("wl_"), "{listed}");
    assert!(!server.get("/v1/tokens").body.contains("wl_"));
    let id = text(&reader, "token_id");
    assert!(home.run(&["token", "revoke", &id, "--store", "w.db"]).status.success());
    assert!(!home.run(&["token", "revoke", &id, "--store", "w.db"]).status.success());
    wait_until("the token is refused", || {
        server.request_as(&read, "GET", "/v1/runs", None).status == 401
    });
    let (_, told) = server.stop();
    assert!(!told.contains("wl_"), "{told}");
    for file in ["w.db", "w.db-wal"] {
        let bytes = std::fs::read(home.path(file)).unwrap_or_default();
        let secret = sender.as_bytes();
        assert!(!bytes.windows(secret.len()).any(|found| found == secret), "{file}");
    }
}

#[test]
fn two_servers_cannot_exceed_a_limit_together() {
    on_both_stores(ECHO, |home, store| {
        let token =
            text(&add_token(home, store, &["t", "--tenant", "a", "--scope", "admin"]), "token");
        let limit = ["token", "limit", "a", "--queued-prompts", "5", "--store", store];
        assert!(home.run(&limit).status.success());
        let servers =
            [home.serve_store(store, &["--no-worker"]), home.serve_store(store, &["--no-worker"])];
        let send = |server: &ServerProcess, nth: usize| {
            let body = json!({"prompt": format!("prompt {nth}")});
            server.request_as(&token, "POST", "/v1/conversations", Some(&body)).status
        };
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let send = &send;
            let threads: Vec<_> = (0..12)
                .map(|nth| (nth, &servers[nth % 2]))
                .map(|(nth, server)| scope.spawn(move || send(server, nth)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 5, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 7, "{statuses:?}");
        // Others are not affected.
        let body = json!({"prompt": "operator"});
        assert_eq!(servers[0].post("/v1/conversations", &body).status, 202);
    });
}

#[test]
fn a_token_has_a_rate() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&["--no-worker", "--requests-per-second", "3"]);
    let statuses: Vec<u16> = (0..40).map(|_| server.get("/v1/runs").status).collect();
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    wait_until("the rate is free again", || server.get("/v1/runs").status == 200);
    let refused = (0..40).map(|_| server.get("/v1/runs")).find(|got| got.status == 429).unwrap();
    assert_eq!(refused.problem(), "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
}
