//! Questions and answers over the API: an answer is about the exact call, and counts once.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, ServerProcess, wait_until};

const WRITE: &str = "when ask 1\n  call Write {\"file_path\": \"note.txt\", \"content\": \"hello\"}\n\
     when error\n  say \"denied: ${result}\"\nwhen any\n  say \"done\"\n";

/// Sends a prompt, and waits until its run asks; returns the question.
fn ask(server: &ServerProcess) -> Value {
    let accepted = server.post("/v1/conversations", &json!({"prompt": "write"})).json();
    let path = format!("/v1/questions?run_id={}", accepted["run_id"].as_str().unwrap());
    let open = || server.get(&path).json()["data"].as_array().unwrap().clone();
    wait_until("the question", || !open().is_empty());
    open().remove(0)
}

fn answer_path(question: &Value) -> String {
    let run = question["run_id"].as_str().unwrap();
    format!("/v1/questions/{run}/{}/answer", question["question_id"])
}

fn run_of(server: &ServerProcess, question: &Value) -> Value {
    server.get(&format!("/v1/runs/{}", question["run_id"].as_str().unwrap())).json()
}

fn wait_for_end(server: &ServerProcess, question: &Value) -> Value {
    wait_until("the end", || !run_of(server, question)["stop_cause"].is_null());
    run_of(server, question)
}

#[test]
fn a_call_is_approved_exactly_as_it_was_shown() {
    // Attack case 80.
    let home = ServerHome::new(WRITE);
    let server = home.serve(&[]);
    let question = ask(&server);
    assert_eq!(question["kind"], "approval");
    assert_eq!(
        (&question["tool_name"], &question["input"]["content"]),
        (&json!("Write"), &json!("hello"))
    );
    assert!(question["text"].as_str().unwrap().contains("note.txt"), "{question}");
    let answers: Vec<&Value> =
        question["answers"].as_array().unwrap().iter().map(|choice| &choice["answer"]).collect();
    assert_eq!(answers, ["allow", "deny"]);
    assert_eq!(server.get("/v1/questions").json()["data"], json!([question]));
    let path = answer_path(&question);
    let refuse = |body: Value, status: u16, code: &str| {
        let refused = server.post(&path, &body);
        assert_eq!((refused.status, refused.problem().as_str()), (status, code), "{body}");
    };
    let hash = &question["input_hash"];
    refuse(json!({"answer": "allow"}), 400, "invalid_request");
    refuse(json!({"answer": "allow", "input_hash": "0".repeat(64)}), 409, "call_changed");
    refuse(json!({"answer": "retry", "input_hash": hash}), 400, "invalid_request");
    refuse(json!({"answer": "perhaps", "input_hash": hash}), 400, "invalid_request");
    refuse(json!({"answer": "allow", "input_hash": hash, "text": "x"}), 400, "invalid_request");
    assert!(!home.path("note.txt").exists());
    let accepted = server.post(&path, &json!({"answer": "allow", "input_hash": hash}));
    assert_eq!(accepted.status, 202, "{accepted:?}");
    refuse(json!({"answer": "deny", "input_hash": hash}), 409, "question_closed");
    assert_eq!(wait_for_end(&server, &question)["answer"], "done");
    assert!(home.path("note.txt").exists());
    refuse(json!({"answer": "allow", "input_hash": hash}), 409, "question_closed");
    assert_eq!(server.get("/v1/questions").json()["data"], json!([]));
}

#[test]
fn an_answer_to_a_cancelled_run_comes_too_late() {
    // Attack case 80.
    let home = ServerHome::new(WRITE);
    let server = home.serve(&[]);
    let question = ask(&server);
    let run = format!("/v1/runs/{}", question["run_id"].as_str().unwrap());
    assert_eq!(server.post(&format!("{run}/cancel"), &json!({})).status, 202);
    let late = json!({"answer": "allow", "input_hash": question["input_hash"]});
    let refused = server.post(&answer_path(&question), &late);
    assert_eq!((refused.status, refused.problem().as_str()), (409, "question_closed"));
    assert_eq!(wait_for_end(&server, &question)["state"], "cancelled");
    let again = server.post(&format!("{run}/cancel"), &json!({}));
    assert_eq!((again.status, again.problem().as_str()), (409, "run_finished"));
    assert!(!home.path("note.txt").exists());
    for path in ["/v1/questions/nothing/1/answer", &format!("/v1/questions{}/x/answer", &run[8..])]
    {
        let refused = server.post(path, &late);
        assert_eq!((refused.status, refused.problem().as_str()), (404, "not_found"), "{path}");
    }
}

#[test]
fn of_two_answers_at_the_same_moment_one_counts() {
    let home = ServerHome::new(WRITE);
    let server = home.serve(&["--no-worker"]);
    let worker = home.serve(&[]);
    let question = ask(&server);
    drop(worker);
    let path = answer_path(&question);
    let hash = &question["input_hash"];
    let send =
        |answer: &str| server.post(&path, &json!({"answer": answer, "input_hash": hash})).status;
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..6)
            .map(|n| scope.spawn(move || send(if n % 2 == 0 { "allow" } else { "deny" })))
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    assert!(
        statuses.contains(&202) && statuses.iter().all(|it| [202, 409].contains(it)),
        "{statuses:?}"
    );
    let entries = home.run(&["show", question["run_id"].as_str().unwrap(), "--store", "w.db"]);
    assert!(entries.status.success(), "{entries:?}");
    let worker = home.serve(&[]);
    let end = wait_for_end(&worker, &question);
    assert_eq!(home.path("note.txt").exists(), end["answer"] == "done");
}

#[test]
fn a_denial_has_a_reason_for_the_model() {
    let home = ServerHome::new(WRITE);
    let server = home.serve(&[]);
    let question = ask(&server);
    let body = json!({"answer": "deny", "input_hash": question["input_hash"], "text": "not today"});
    assert_eq!(server.post(&answer_path(&question), &body).status, 202);
    let end = wait_for_end(&server, &question);
    assert!(end["answer"].as_str().unwrap().contains("not today"), "{end}");
}

#[test]
fn runs_are_resumed_and_forked() {
    let home = ServerHome::new(
        "when ask 1\n  call Read {\"file_path\": \"a.script\"}\n\
         when ask 2\n  call Glob {\"pattern\": \"*\"}\nwhen any\n  say \"done: ${user}\"\n",
    );
    let server = home.serve(&[]);
    let short = json!({"prompt": "go", "options": {"max_turns": 1}});
    let limited = server.post("/v1/conversations", &short).json();
    let end = wait_for_end(&server, &limited);
    assert_eq!((&end["stop_cause"], &end["is_resumable"]), (&json!("max_iters"), &json!(true)));
    let run = format!("/v1/runs/{}", limited["run_id"].as_str().unwrap());
    let resumed = server.post(&format!("{run}/resume"), &json!({}));
    assert_eq!(resumed.status, 202, "{resumed:?}");
    let next = resumed.json();
    assert_eq!(next["conversation_id"], limited["conversation_id"]);
    assert_ne!(next["run_id"], limited["run_id"]);
    assert_eq!(wait_for_end(&server, &next)["stop_cause"], "end_turn");
    for run in [&limited, &next] {
        let path = format!("/v1/runs/{}/resume", run["run_id"].as_str().unwrap());
        let refused = server.post(&path, &json!({}));
        assert_eq!((refused.status, refused.problem().as_str()), (409, "not_resumable"), "{run}");
    }
    let forked = server.post(&format!("{run}/fork"), &json!({"prompt": "other way"}));
    assert_eq!(forked.status, 201, "{forked:?}");
    let fork = forked.json();
    assert_eq!(fork["forked_from_id"], limited["conversation_id"]);
    assert_eq!(wait_for_end(&server, &fork)["answer"], "done: other way");
    let path = format!("/v1/conversations/{}/messages", fork["conversation_id"].as_str().unwrap());
    let messages = server.get(&path).json();
    assert_eq!(messages["data"][0]["message"]["message"]["content"][0]["text"], "go", "{messages}");
    let refused = server.post(&format!("{run}/fork"), &json!({"at_entry": 0}));
    assert_eq!((refused.status, refused.problem().as_str()), (400, "invalid_request"));
}

#[test]
fn what_a_server_of_tools_asks_survives_kill_9_and_is_answered_once() {
    let home = ServerHome::new(
        "when results 0\n  call mcp__desk__order {}\nwhen any\n  say \"It said: ${result}\"\n",
    );
    std::fs::write(home.path("server.py"), include_str!("../asking_server.py")).unwrap();
    let desk = json!({"command": "python3", "args": ["server.py"], "env": {"ASKS": "size"}});
    let config = json!({"mcpServers": {"desk": desk}}).to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__desk"];
    let server = home.serve(&flags);
    let question = ask(&server);
    assert_eq!(
        (&question["kind"], &question["text"]),
        (&json!("tool_request"), &json!("desk asks: Which size?"))
    );
    let fields = question["options"].as_array().unwrap();
    let size = fields.iter().find(|field| field["header"] == "size").unwrap();
    assert_eq!(size["options"][1]["label"], "size=large", "{question}");
    server.kill();
    let server = home.serve(&flags);
    let path = format!("/v1/questions?run_id={}", question["run_id"].as_str().unwrap());
    let again = &server.get(&path).json()["data"][0];
    assert_eq!(
        (&again["text"], &again["question_id"]),
        (&question["text"], &question["question_id"])
    );
    let hash = &question["input_hash"];
    let send = |text: &str| {
        let body = json!({"answer": "text", "text": text, "input_hash": hash});
        server.post(&answer_path(&question), &body)
    };
    let refused = send("size=huge");
    assert_eq!((refused.status, refused.problem().as_str()), (400, "invalid_request"));
    assert!(refused.body.contains("must be one of the values"), "{}", refused.body);
    assert_eq!(send("size=large").status, 202);
    assert_eq!(send("size=small").status, 409);
    let answer = wait_for_end(&server, &question)["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("large"), "{answer}");
    let lines = |name: &str| std::fs::read_to_string(home.path(name)).unwrap().lines().count();
    // The server of tools died with the process: the call was sent again, and acted once.
    assert_eq!((lines("calls"), lines("ordered")), (2, 1));
}

#[test]
fn a_call_that_waits_for_its_answer_goes_on_while_the_process_lives() {
    let home = ServerHome::new(
        "when results 0\n  call mcp__desk__order {}\nwhen any\n  say \"It said: ${result}\"\n",
    );
    std::fs::write(home.path("server.py"), include_str!("../asking_server.py")).unwrap();
    let desk =
        json!({"command": "python3", "args": ["server.py"], "env": {"ASKS": "size,defaults"}});
    let config = json!({"mcpServers": {"desk": desk}}).to_string();
    let server = home.serve(&["--mcp-config", &config, "--allowedTools", "mcp__desk"]);
    let first = ask(&server);
    let path = format!("/v1/questions?run_id={}", first["run_id"].as_str().unwrap());
    let send = |question: &Value, answer: Value| {
        assert_eq!(server.post(&answer_path(question), &answer).status, 202);
    };
    let hash = &first["input_hash"];
    send(&first, json!({"answer": "text", "text": "size=small", "input_hash": hash}));
    let open = || server.get(&path).json()["data"][0].clone();
    wait_until("the next question", || open()["question_id"] == 2);
    send(&open(), json!({"answer": "continue", "input_hash": hash}));
    let answer = wait_for_end(&server, &first)["answer"].as_str().unwrap().to_owned();
    assert!(answer.contains("small") && answer.contains('7'), "{answer}");
    let calls = std::fs::read_to_string(home.path("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "it was sent once");
}
