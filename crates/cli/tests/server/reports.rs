//! Reports over the API are those of the commands.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, wait_until};

const SCRIPT: &str =
    "when ask 1\n  call Read {\"file_path\": \"a.script\"}\nwhen any\n  say \"done\"\n";

#[test]
fn reports_are_those_of_the_commands() {
    let home = ServerHome::new(SCRIPT);
    let server = home.serve(&[]);
    let accepted = server.post("/v1/conversations", &json!({"prompt": "go"})).json();
    let id = accepted["run_id"].as_str().unwrap();
    let run = |rest: &str| server.get(&format!("/v1/runs/{id}{rest}")).json();
    wait_until("the end", || run("")["state"] == "completed");
    let command = |args: &[&str]| -> Vec<Value> {
        let ran = home.run(&[args, &["--json", "--store", "w.db"]].concat());
        let out = String::from_utf8(ran.stdout).unwrap();
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(run("/explain"), command(&["explain", id])[0]["explanation"]);
    assert_eq!(run("/trace")["data"], json!(command(&["trace", id])));
    assert_eq!(run("/raw")["data"], json!(command(&["raw", id])));
    assert_eq!(run("/journal"), command(&["journal", id])[0]);
    let events = run("/events");
    let names: Vec<&str> =
        events["data"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"agent_run.completed"), "{events}");
    let oldest: Vec<Value> = command(&["logs", id, "--last", "1000"]);
    let mine: Vec<&Value> = oldest.iter().filter(|event| event["run"] == id).collect();
    assert_eq!(names.len(), mine.len());
    assert_eq!(events["data"][0]["at_ms"], mine.last().unwrap()["at_ms"], "newest first");
    assert_eq!(events["data"][0]["run_id"], id);
    let filtered = server.get("/v1/events?name=completed&limit=500").json();
    assert_eq!(filtered["data"].as_array().unwrap().len(), 1, "{filtered}");
    let stats = server.get("/v1/stats?days=1").json();
    let told = &command(&["stats", "--days", "1"])[0];
    for field in ["runs", "reasons", "tools", "agents", "iterations_to_end_turn"] {
        assert_eq!(stats[field], told[field], "{field}");
    }
    assert_eq!(stats["states"], json!({"completed": 1}));
    assert_eq!(stats["days"][0]["runs"], 1, "{stats}");
    let workers = server.get("/v1/workers").json();
    let worker = &workers["data"][0];
    assert_eq!(
        (&worker["is_live"], worker["workspaces"].as_array().unwrap().len()),
        (&json!(true), 1)
    );
    for path in ["/v1/runs/nothing/explain", "/v1/runs/nothing/trace"] {
        assert_eq!(server.get(path).problem(), "not_found");
    }
    assert_eq!(server.get("/v1/events?limit=0").problem(), "invalid_request");
}
