//! Queued prompts that no process has read yet, cancelling one run and no other, and deleting
//! conversations.

use serde_json::{Value, json};

use crate::test_home::TestHome;

fn list_runs(home: &TestHome) -> Vec<Value> {
    home.json(&["runs"])
}

fn detach(home: &TestHome, prompt: &str, name: &str) -> Value {
    let output = home.run_prompt(prompt, &["--detach", "--json", "--conversation", name]);
    assert_eq!(output.code, 0, "{}", output.err);
    serde_json::from_str(&output.out).unwrap()
}

#[test]
fn a_detached_prompt_is_seen_at_once_and_found_by_continue() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let left = detach(&home, "tidy up\nplease", "c1");
    assert_eq!((&left["conversation"], &left["state"]), (&json!("c1"), &json!("queued")));
    let listed = list_runs(&home);
    assert_eq!((listed.len(), &listed[0]["state"]), (1, &json!("queued")));
    assert_eq!(listed[0]["run"], left["run"]);
    for command in ["show", "explain"] {
        for id in ["c1", left["run"].as_str().unwrap()] {
            let ran = home.run(&[command, id]);
            assert_eq!(ran.code, 0, "{command} {id}: {}", ran.err);
            assert!(ran.out.contains("is queued") && ran.out.contains("tidy up"), "{}", ran.out);
            assert!(ran.out.contains("waiting for a worker"), "{}", ran.out);
            let message: Value =
                serde_json::from_str(&home.run(&[command, id, "--json"]).out).unwrap();
            assert_eq!(message["state"], "queued", "{command} {id}");
        }
    }
    let continued = home.run_prompt("and more", &["--continue", "--detach"]);
    assert_eq!((continued.code, continued.out.as_str()), (0, "c1\n"), "{}", continued.err);
    assert_eq!(list_runs(&home).len(), 2);
    // The process that resumes the conversation drives both prompts.
    assert_eq!(home.run(&["resume", "c1", "--script", "a.script"]).code, 0);
    assert!(
        list_runs(&home).iter().all(|run| run["state"] == "completed"),
        "{:?}",
        list_runs(&home)
    );
}

#[test]
fn whoever_only_leaves_a_prompt_needs_no_model_and_no_key() {
    let home = TestHome::new("");
    let output = home.run(&["-p", "go", "--detach", "--conversation", "c1"]);
    assert_eq!((output.code, output.out.as_str()), (0, "c1\n"), "{}", output.err);
    assert_eq!(list_runs(&home)[0]["state"], "queued");
}

#[test]
fn a_prompt_that_nobody_has_read_can_be_cancelled() {
    // A model call would fail.
    let home = TestHome::new("when any\n  fault 400 \"nobody asks\"\n");
    let left = detach(&home, "go", "c1");
    let asked = home.run(&["cancel", left["run"].as_str().unwrap(), "--detach"]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert_eq!(list_runs(&home)[0]["cancel_requested"], true);
    let cancelled = home.run(&["cancel", "c1"]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.err);
    assert_eq!(list_runs(&home)[0]["state"], "cancelled", "{:?}", list_runs(&home));
    let again = home.run(&["cancel", left["run"].as_str().unwrap()]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("has finished already (user_cancel)"), "{}", again.out);
}

// spec: LANES-07
#[test]
fn only_the_run_that_was_named_is_cancelled() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let (first, second) = (detach(&home, "one", "c1"), detach(&home, "two", "c1"));
    home.run(&["cancel", second["run"].as_str().unwrap(), "--detach"]);
    assert_eq!(home.run(&["resume", "c1", "--script", "a.script"]).code, 0);
    let state = |run: &Value| {
        let runs = list_runs(&home);
        runs.into_iter().find(|one| one["run"] == run["run"]).unwrap()["state"].clone()
    };
    assert_eq!((state(&first), state(&second)), (json!("completed"), json!("cancelled")));
}

// spec: LANES-07
#[test]
fn cancel_can_be_typed_as_a_prompt() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    detach(&home, "go", "c1");
    let ran = home.run_prompt("/cancel", &["--resume", "c1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(list_runs(&home)[0]["state"], "cancelled", "{:?}", list_runs(&home));
    assert_ne!(home.run_prompt("/cancel", &[]).code, 0, "there is nothing it could be about");
}

#[test]
fn what_is_over_for_good_is_not_resumed_and_what_stopped_at_a_limit_goes_on() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    home.run_prompt("go", &["--conversation", "c1"]);
    let ran = home.run(&["resume", "c1", "--script", "a.script"]);
    assert!(ran.code != 0 && ran.err.contains("there is nothing to resume"), "{}", ran.err);
    let home = TestHome::new(
        "when user contains \"Continue where you stopped\"\n  say \"went on\"\n\
         when any\n  call Bash {\"command\": \"true\"}\n",
    );
    let capped =
        home.run_prompt("go", &["--conversation", "c2", "--max-turns", "1", "--allow", "Bash"]);
    assert_ne!(capped.code, 0, "{}", capped.out);
    let ran = home.run(&["resume", "c2", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "went on"), "{}", ran.err);
}

#[test]
fn a_conversation_is_deleted_with_everything_that_belongs_to_it() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    home.run_prompt("go", &["--conversation", "c1"]);
    home.run_prompt("go", &["--conversation", "c2"]);
    detach(&home, "more", "c1");
    let refused = home.run(&["delete", "c1"]);
    assert!(refused.code != 0 && refused.err.contains("windlass cancel c1"), "{}", refused.err);
    home.run(&["cancel", "c1"]);
    let deleted = home.run(&["delete", "c1"]);
    assert_eq!(deleted.code, 0, "{}", deleted.err);
    assert!(deleted.out.starts_with("deleted c1: "), "{}", deleted.out);
    let left: Vec<Value> = list_runs(&home);
    assert!(left.len() == 1 && left[0]["conversation"] == "c2", "{left:?}");
    assert_ne!(home.run(&["delete", "c1"]).code, 0, "it is gone");
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    for table in ["lane", "run"] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(store.query_row(&count, [], |row| row.get::<_, i64>(0)), Ok(1), "{table}");
    }
}

#[test]
fn a_deleted_conversation_leaves_no_text_and_no_tool_state() {
    let home = TestHome::new(
        r#"
when user is "MARKERCHILD" and results 0
  call Bash {"command": "sleep 60", "run_in_background": true}

when user is "MARKERCHILD"
  say "MARKERDONE"

when user is "MARKERPROMPT" and results 0
  call Bash {"command": "sleep 60; echo MARKERCALL", "run_in_background": true}
  call Agent {"description": "d", "prompt": "MARKERCHILD"}

when user is "kept"
  say "kept"

when any
  say "MARKERREPLY"
"#,
    );
    home.run_prompt("kept", &["--conversation", "c2"]);
    let ran = home.run_prompt("MARKERPROMPT", &["--conversation", "c1", "--allow", "Bash,Agent"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let states = || {
        let folder = std::fs::read_dir(home.path("home/tool-state"));
        folder.map_or(0, |folder| folder.count())
    };
    assert!(states() >= 2, "the conversation and its sub-agent have tool state: {}", states());
    let holds = |text: &str| {
        let files = ["w.db", "w.db-wal"].map(|name| std::fs::read(home.path(name)));
        let files: Vec<u8> = files.into_iter().flatten().flatten().collect();
        files.windows(text.len()).any(|part| part == text.as_bytes())
    };
    assert!(holds("MARKERPROMPT"));
    let deleted = home.run(&["delete", "c1"]);
    assert_eq!(deleted.code, 0, "{}", deleted.err);
    for text in ["MARKERPROMPT", "MARKERREPLY", "MARKERCALL", "MARKERCHILD", "MARKERDONE"] {
        assert!(!holds(text), "{text} is still in the file");
    }
    assert_eq!(states(), 0, "the tool state is gone");
}

#[test]
fn a_conversation_cannot_take_the_name_of_a_sub_agent() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let ran = home.run_prompt("go", &["--conversation", "c1/1.0-0"]);
    assert!(ran.code != 0 && ran.err.contains("contains `/`"), "{}", ran.err);
}
