//! Runs that failed for different reasons: `windlass explain` alone names the cause, with the evidence,
//! and advises what helps.

use std::process::Stdio;

use crate::test_home::TestHome;

const SCRIPT: &str = r#"
when user is "fails" and results 0
  call Read {"file_path": "missing.txt"}
  call Bash {"command": "ls /no-such-folder"}
when user is "recovers" and results 0
  call Read {"file_path": "late.txt"}
when user is "recovers" and error
  call Write {"file_path": "late.txt", "content": "x"}
when user is "recovers" and result of Write
  call Read {"file_path": "late.txt"}
when user is "times out" and results 0
  call Bash {"command": "sleep 5", "timeout": 30}
when user is "is forbidden" and results 0
  call Bash {"command": "rm -rf build"}
when user is "publishes" and results 0
  call Bash {"command": "git status && npm publish --tag next"}
when user is "loses the connection"
  say "So far so"
  fail 529 "overloaded"
when user is "has a wrong key"
  fail 401 "invalid x-api-key"
when user is "delegates" and results 0
  call Agent {"description": "look", "prompt": "has a wrong key", "subagent_type": "general-purpose"}
when user is "asks"
  call Bash {"command": "touch x"}
when user contains "fills the window"
  stop model_context_window_exceeded
when any
  say "All done."
"#;

/// Scripts that do the same whatever the runtime says to the model.
const LOOP: &str = "when any\n  call Read {\"file_path\": \"a.txt\"}\n";
const WRITES: &str = "when any\n  call Write {\"file_path\": \"x.txt\", \"content\": \"1\"}\n";
const CUT: &str =
    "when any\n  truncate call Write {\"file_path\": \"big.txt\", \"content\": \"abc\n";

const SETTINGS: &str = r#"{
  "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(git status)", "Bash(ls:*)", "Bash(sleep:*)"]},
  "hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command",
    "command": "grep -q x.txt && { echo 'not on a Friday' >&2; exit 2; }; exit 0"}]}]}
}"#;

fn new_home() -> TestHome {
    home_with(SCRIPT)
}

fn home_with(script: &str) -> TestHome {
    let home = TestHome::new(script);
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    home.write("user/.claude/settings.json", SETTINGS);
    home.write("a.txt", "x");
    home
}

/// What `explain` says about the run of a prompt: on one line, so that wrapping does not matter.
fn explain(home: &TestHome, prompt: &str, flags: &[&str]) -> String {
    let name = prompt.replace(' ', "-");
    let flags = [flags, &["--conversation", &name]].concat();
    home.run_prompt_unattended(prompt, &flags);
    explain_conversation(home, &name)
}

fn explain_conversation(home: &TestHome, name: &str) -> String {
    let ran = home.run(&["explain", name]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let (told, _) = ran.out.split_once("\nIterations\n").unwrap_or((&ran.out, ""));
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_told(told: &str, expected: &[&str]) {
    for expected in expected {
        assert!(told.contains(expected), "{expected:?} is missing in: {told}");
    }
}

#[test]
fn a_loop_at_its_cap_needs_other_instructions_and_not_more_turns() {
    let told = explain(&home_with(LOOP), "repeats", &["--max-turns", "4"]);
    assert_told(
        &told,
        &[
            "prompt: repeats",
            "It stopped (max_iters)",
            "Read {\"file_path\": \"a.txt\"} was made 4 times over",
            "the result never changed",
            "More turns would not help",
        ],
    );
    assert!(!told.contains("raise the limit"), "{told}");
}

#[test]
fn failed_calls_behind_a_good_looking_answer_are_in_the_headline() {
    let home = new_home();
    let told = explain(&home, "fails", &["--allowedTools", "Read"]);
    assert_told(
        &told,
        &[
            "completed, but 2 calls failed and were not repeated; check the answer",
            "answer: All done.",
            "Read {\"file_path\": \"missing.txt\"} failed: file not found",
            "Bash {\"command\": \"ls /no-such-folder\"} failed: the command ended with exit code 2: ls:",
            "Check the answer",
        ],
    );
    let recovered = explain(&home, "recovers", &["--allowedTools", "Read,Write"]);
    assert_told(
        &recovered,
        &["recovers completed prompt:", "failed: file not found", "A later call did it."],
    );
}

#[test]
fn a_time_out_has_its_limit_its_unit_and_what_was_probably_meant() {
    let told = explain(&new_home(), "times out", &[]);
    let limit = "ran out of time after 30 milliseconds, its limit. The limit is in milliseconds; the \
                 model probably meant 30 seconds.";
    assert_told(&told, &["completed, but 1 call failed", limit]);
}

#[test]
fn who_refused_a_call_is_named_with_its_file() {
    let home = new_home();
    let file = home.path("user/.claude/settings.json").display().to_string();
    let told = explain(&home, "is forbidden", &[]);
    assert_told(
        &told,
        &["completed, but 1 call was denied", &format!("The rule Bash(rm:*) is in {file}.")],
    );
    let home = home_with(WRITES);
    let file = home.path("user/.claude/settings.json").display().to_string();
    let told = explain(&home, "is refused by a hook", &["--max-turns", "3"]);
    assert_told(
        &told,
        &[
            "It stopped (max_iters)",
            "was denied by a hook: not on a Friday.",
            &format!("exit 0` in {file}."),
            "A hook refused Write",
            "more turns would not help",
        ],
    );
    assert!(!told.contains("raise the limit"), "{told}");
}

#[test]
fn the_part_of_a_command_that_no_rule_covers_is_named() {
    let told = explain(&new_home(), "publishes", &[]);
    assert_told(
        &told,
        &[
            "No rule covers this part of the command: `npm publish --tag next`.",
            "--allowedTools \"Bash(npm publish:*)\"",
        ],
    );
}

#[test]
fn a_call_that_was_cut_off_is_named_with_its_file() {
    let told = explain(&home_with(CUT), "writes too much", &["--allowedTools", "Write"]);
    assert_told(
        &told,
        &[
            "It stopped (truncation_exhausted)",
            "The output limit cut off a call of Write of big.txt after",
            "The call Write of big.txt is too long for one reply: ask for it in parts",
        ],
    );
}

#[test]
fn a_budget_that_lost_attempts_ate_is_a_matter_of_the_connection() {
    let told = explain(&new_home(), "loses the connection", &["--max-budget-tokens", "15000"]);
    assert_told(
        &told,
        &[
            "It stopped (budget_tokens)",
            "of them cut off while the reply arrived",
            "an upper estimate: no usage was reported",
            "check the connection to the provider",
        ],
    );
    assert!(!told.contains("Raise the budget"), "{told}");
    // However often it failed: one line, with the entries.
    assert_eq!(told.matches("The model call failed (").count(), 1, "{told}");
}

#[test]
fn a_refused_key_and_a_schema_that_nothing_fits_are_advised_about() {
    let home = new_home();
    let told = explain(&home, "has a wrong key", &[]);
    assert_told(&told, &["It stopped (provider_failed)", "The provider refused the key"]);
    let schema = r#"{"type": "object", "required": ["total"], "additionalProperties": false}"#;
    let told = explain(&home, "answers", &["--json-schema", schema]);
    assert_told(
        &told,
        &[
            "It stopped (structured_output_retries)",
            "No answer can fit the schema: the answer requires the property \"total\", but \
             additionalProperties forbids it.",
        ],
    );
}

#[test]
fn a_window_that_the_prompt_fills_is_told_with_its_share() {
    let home = new_home();
    let prompt = format!("fills the window {}", "word ".repeat(20_000));
    home.run_prompt_unattended(&prompt, &["--conversation", "full"]);
    let told = explain_conversation(&home, "full");
    assert_told(
        &told,
        &[
            "It stopped (blocking_limit)",
            "more characters)",
            "Give it less at once: your prompt takes",
            "tokens and cannot be compacted.",
        ],
    );
}

#[test]
fn a_sub_agent_that_failed_stands_inline_with_its_cause() {
    let told = explain(&new_home(), "delegates", &[]);
    assert_told(
        &told,
        &["and 1 sub-agent failed; check the answer", "[has a wrong key] failed (provider_failed)"],
    );
}

#[test]
fn a_run_that_waits_has_every_answer_with_what_follows_and_what_waits_behind_it() {
    let home = new_home();
    home.run_prompt("asks", &["--conversation", "c"]);
    home.run_prompt("the next thing", &["--conversation", "c", "--detach"]);
    let told = explain_conversation(&home, "c");
    assert_told(
        &told,
        &[
            "c needs an answer",
            "`allow`: the call runs once; similar calls need approval again.",
            "`deny`: the call does not run; the model reads the text.",
            "1 prompt waits behind it: \u{201c}the next thing\u{201d}.",
        ],
    );
}

#[test]
fn an_interrupted_call_may_have_happened() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"touch began && sleep 60\"}\nwhen any\n  say \"x\"\n",
    );
    let args = ["-p", "go", "--script", "a.script", "--store", "w.db", "--conversation", "c"];
    let mut command = home.command(&[&args[..], &["--allowedTools", "Bash"]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    home.wait_for_file("began");
    child.kill().unwrap();
    child.wait().unwrap();
    let told = explain_conversation(&home, "c");
    assert_told(
        &told,
        &[
            "is interrupted: no process is working on it",
            "On resume it asks what happened to Bash",
            "it may have happened, so check first",
        ],
    );
}

#[test]
fn programs_get_the_facts_that_the_sentences_are_made_of() {
    let home = new_home();
    explain(&home, "fails", &["--allowedTools", "Read"]);
    let told = &home.json(&["explain", "fails"])[0]["explanation"];
    let facts = &told["facts"];
    assert_eq!(facts["prompt"]["text"], "fails");
    assert_eq!(facts["failed_calls"][0]["tool"], "Read");
    assert_eq!(facts["failed_calls"][0]["problem"], "failed");
    assert_eq!(facts["failed_calls"][0]["is_made_good"], false);
    assert_eq!(facts["model_calls"].as_array().unwrap().len(), 2);
    assert!(told["headline"].as_str().unwrap().contains("check the answer"));
    assert!(facts["context"]["pieces"][0]["tokens"].as_u64().unwrap() > 0);
}
