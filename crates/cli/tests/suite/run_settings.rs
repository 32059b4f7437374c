//! Settings given with one prompt apply to its run alone: after a crash, in a queue, and for a
//! worker.

use std::process::Stdio;

use windlass::core::permission::{HumanAvailability, PermissionMode};
use windlass::core::settings::conversation_settings::{CacheLifetime, Effort, Settings};

use crate::test_home::TestHome;

const WORK: &str = r#"
when user is "one" and results 0
  call Bash {"command": "touch started; sleep 2; touch one"}

when user is "two" and results 0
  call Bash {"command": "touch two"}

when error of Bash
  say "not allowed ${user}"

when any
  say "said ${user}"
"#;

/// Starts a prompt of the conversation `c` without waiting for it.
fn start_prompt(home: &TestHome, prompt: &str, more: &[&str]) -> std::process::Child {
    let store = home.path("w.db");
    let args = ["-p", prompt, "--script", "a.script", "--conversation", "c", "--lease-ms", "1000"];
    let args =
        [&args[..], &["--beat-ms", "200", "--store", store.to_str().unwrap()], more].concat();
    let mut command = home.command(&args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const QUICK: &[&str] = &["--conversation", "c", "--lease-ms", "1000", "--beat-ms", "200"];

/// Flags of every kind, each of which is visible in the settings of its run.
const FLAGS: &[&str] = &[
    "--allow",
    "Bash",
    "--max-turns",
    "7",
    "--append-system-prompt",
    "SECRETWORD",
    "--max-budget-tokens",
    "900000",
    "--effort",
    "low",
];

/// Checks that a run had all of `FLAGS`, or none.
#[track_caller]
fn assert_flags(settings: &Settings, expected: bool) {
    let seen = [
        settings.rules.allow.iter().any(|rule| &**rule.text() == "Bash"),
        settings.limits.tool_rounds == 7,
        settings.system.contains("SECRETWORD"),
        settings.budget.run.tokens == Some(900_000),
        settings.thinking.effort == Some(Effort::Low),
    ];
    assert_eq!(seen, [expected; 5], "rules, turns, system prompt, budget, effort");
}

#[track_caller]
fn assert_flags_of_runs(home: &TestHome, expected: &[bool]) {
    let runs = home.settings_of_runs("c");
    assert_eq!(runs.len(), expected.len());
    for (settings, expected) in runs.iter().zip(expected) {
        assert_flags(settings, *expected);
    }
}

// spec: LANES-14
#[test]
fn flags_of_a_killed_run_are_not_those_of_the_next_prompt() {
    let home = TestHome::new(WORK);
    let mut first = start_prompt(&home, "one", FLAGS);
    home.wait_until("the first command", || home.path("started").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    // The interrupted command may have happened: after the answer its run continues with its own
    // flags.
    let behind = home.run_prompt_unattended("two", QUICK);
    assert!(!behind.err.contains("changed since the run started"), "{}", behind.err);
    let ran = home.run(&["answer", "c", "1", "mark-done", "--script", "a.script"]);
    assert!(ran.out.contains("said one"), "{}{}", ran.out, ran.err);
    let output = home.run(&["show", "c"]).out;
    assert!(output.contains("not allowed two"), "{output}");
    assert!(!home.path("two").exists(), "a rule outlived its run");
    assert_flags_of_runs(&home, &[true, false]);
}

// spec: LANES-14
#[test]
fn flags_of_a_prompt_are_not_those_of_the_killed_run_before_it() {
    let home = TestHome::new(WORK);
    let rules = ["touch started", "sleep:*", "touch one"].map(|rule| format!("Bash({rule})"));
    let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
    let mut first = start_prompt(&home, "one", &rules);
    home.wait_until("the first command", || home.path("started").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    let behind = home.run_prompt_unattended("two", &[QUICK, FLAGS].concat());
    assert!(!behind.err.contains("changed since the run started"), "{}", behind.err);
    home.run(&["answer", "c", "1", "mark-done", "--script", "a.script"]);
    home.wait_until("both runs", || home.settings_of_runs("c").len() == 2);
    assert_flags_of_runs(&home, &[false, true]);
}

// spec: LANES-14
#[test]
fn flags_of_a_prompt_are_not_those_of_a_detached_one_before_it() {
    let home = TestHome::new(WORK);
    assert_eq!(home.run_prompt_unattended("first", &["--conversation", "c", "--detach"]).code, 0);
    let ran = home.run_prompt_unattended("second", &[QUICK, FLAGS].concat());
    assert!(ran.out.contains("said second"), "{}{}", ran.out, ran.err);
    assert_flags_of_runs(&home, &[false, true]);
}

// spec: LANES-14
#[test]
fn flags_of_a_prompt_that_waits_are_not_lost() {
    let home = TestHome::new(WORK);
    let rules = ["touch started", "sleep:*", "touch one"].map(|rule| format!("Bash({rule})"));
    let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
    let mut first = start_prompt(&home, "one", &rules);
    home.wait_until("the first command", || home.path("started").exists());
    let ran = home.run_prompt_unattended("two", &[QUICK, FLAGS].concat());
    assert!(ran.out.contains("said two"), "{}{}", ran.out, ran.err);
    assert!(home.path("two").exists(), "{}{}", ran.out, ran.err);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_flags_of_runs(&home, &[false, true]);
}

// spec: LANES-14
#[test]
fn flags_of_a_run_are_not_those_of_a_prompt_that_waits_behind_it() {
    let home = TestHome::new(WORK);
    let mut first = start_prompt(&home, "one", FLAGS);
    home.wait_until("the first command", || home.path("started").exists());
    let ran = home.run_prompt_unattended("two", QUICK);
    assert!(ran.out.contains("not allowed two"), "{}{}", ran.out, ran.err);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert!(home.path("one").exists() && !home.path("two").exists());
    // Nor those of a run that was left for another process.
    let mut first = start_prompt(&home, "one", FLAGS);
    home.wait_until("the run", || home.json(&["runs"]).iter().any(|run| run["state"] == "running"));
    let output = home.run_prompt_unattended("two", &["--conversation", "c", "--detach"]);
    assert_eq!(output.code, 0, "{}", output.err);
    first.wait().unwrap();
    assert!(!home.path("two").exists());
    assert_flags_of_runs(&home, &[true, false, true, false]);
}

// spec: LANES-14
#[test]
fn what_was_given_with_a_prompt_that_was_left_goes_with_it() {
    let home = TestHome::new(WORK);
    let left = [&["--conversation", "c", "--detach"], FLAGS].concat();
    assert_eq!(home.run_prompt_unattended("two", &left).code, 0);
    let worked = home.run(&["resume", "c", "--script", "a.script"]);
    assert!(home.path("two").exists(), "{}{}", worked.out, worked.err);
    assert_flags_of_runs(&home, &[true]);
}

/// A flag that is sent with a detached prompt, its value, and its effect on the settings of the
/// run.
type Travels = (&'static str, Option<&'static str>, fn(&Settings) -> bool);

const TRAVELS: &[Travels] = &[
    ("--model", Some("claude-sonnet-4-5"), |s| &*s.model.name == "claude-sonnet-4-5"),
    ("--fallback-model", Some("openai:gpt-5-mini"), |s| s.fallback.is_some()),
    ("--window-tokens", Some("50000"), |s| s.model.window_tokens == 50_000),
    ("--effort", Some("high"), |s| s.thinking.effort == Some(Effort::High)),
    ("--max-tokens", Some("999"), |s| s.model.max_tokens == 999),
    ("--temperature", Some("0.5"), |s| s.temperature.is_some()),
    ("--stop-sequence", Some("HALT"), |s| {
        s.stop_map.contains_key("HALT") && s.system.contains("HALT")
    }),
    ("--cache-lifetime", Some("1h"), |s| s.cache == Some(CacheLifetime::OneHour)),
    ("--max-thinking-tokens", Some("2000"), |s| s.thinking.budget_tokens == Some(2_000)),
    ("--thinking", Some("disabled"), |s| s.thinking.budget_tokens == Some(0)),
    ("--thinking-display", Some("omitted"), |s| s.thinking.display.is_some()),
    ("--task-budget", Some("30000"), |s| s.thinking.task_tokens == Some(30_000)),
    ("--betas", Some("new-1"), |s| s.thinking.betas.iter().any(|beta| &**beta == "new-1")),
    ("--allowedTools", Some("Bash(ls)"), |s| {
        s.rules.allow.iter().any(|r| &**r.text() == "Bash(ls)")
    }),
    ("--disallowedTools", Some("Bash"), |s| s.tools.iter().all(|tool| &*tool.name != "Bash")),
    ("--permission-mode", Some("plan"), |s| {
        s.rules.mode == PermissionMode::Plan
            && s.tools.iter().any(|tool| &*tool.name == "ExitPlanMode")
    }),
    ("--dangerously-skip-permissions", None, |s| s.rules.mode == PermissionMode::BypassPermissions),
    ("--when-asked", Some("deny"), |s| s.rules.human == HumanAvailability::Absent),
    ("--tools", Some("Read,Grep"), |s| s.tools.len() == 2),
    ("--settings", Some(r#"{"permissions":{"deny":["Bash(rm:*)"]}}"#), |s| s.rules.deny.len() == 1),
    ("--settings", Some(r#"{"model":"claude-opus-4-1"}"#), |s| s.model.name.contains("opus")),
    ("--settings", Some(r#"{"outputStyle":"poet"}"#), |s| s.system.ends_with("Rhyme.")),
    ("--system-prompt", Some("Be a bird."), |s| s.system.starts_with("Be a bird.")),
    ("--append-system-prompt", Some("Sing."), |s| s.system.ends_with("Sing.")),
    ("--system-prompt-file", Some("bird.md"), |s| s.system.starts_with("Fly.")),
    ("--append-system-prompt-file", Some("bird.md"), |s| s.system.ends_with("Fly.")),
    ("--agent", Some("bird"), |s| s.system.starts_with("Chirp.") && s.tools.len() == 1),
    ("--json-schema", Some(r#"{"type":"object","required":["n"]}"#), |s| {
        let takes = |name: &str| name == "StructuredOutput";
        s.output.is_some() && s.tools.iter().any(|tool| takes(&tool.name))
    }),
    ("--max-turns", Some("7"), |s| s.limits.tool_rounds == 7),
    ("--max-budget-usd", Some("0.5"), |s| s.budget.run.usd_micros == Some(500_000)),
    ("--max-budget-tokens", Some("9000"), |s| s.budget.run.tokens == Some(9_000)),
    ("--max-call-budget-usd", Some("0.5"), |s| s.budget.call.usd_micros == Some(500_000)),
    ("--max-call-budget-tokens", Some("9000"), |s| s.budget.call.tokens == Some(9_000)),
    ("--max-conversation-budget-usd", Some("1"), |s| {
        s.budget.conversation.usd_micros == Some(1_000_000)
    }),
    ("--max-conversation-budget-tokens", Some("9000"), |s| {
        s.budget.conversation.tokens == Some(9_000)
    }),
    ("--profile", Some("careful"), |s| {
        let controls = (s.thinking.effort, s.model.max_tokens, &*s.profile);
        controls == (Some(Effort::Max), 777, "careful")
            && s.gate.checklist.len() == 1
            && s.model.name.contains("haiku")
    }),
    ("--set", Some("parallel_calls=2"), |s| s.limits.parallel_calls == 2),
];

/// Flags that cannot be sent with a prompt.
const REFUSED: &[(&str, &str)] = &[
    ("--script", "a.script"),
    ("--add-dir", "home"),
    ("--agents", r#"{"bird":{"description":"x","prompt":"x"}}"#),
    ("--bare", ""),
    ("--managed-settings", r#"{"env":{"A":"b"}}"#),
    ("--mcp-config", r#"{"mcpServers":{}}"#),
    ("--plugin-dir", "."),
    ("--strict-mcp-config", ""),
    ("--sandbox", "workspace-write"),
    ("--setting-sources", "user"),
    ("--settings", r#"{"env":{"A":"b"}}"#),
    ("--settings", r#"{"sandbox":{"enabled":true}}"#),
    ("--settings", r#"{"permissions":{"additionalDirectories":["/tmp"]}}"#),
    ("--settings", r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}"#),
];

/// Flags about the target of the prompt and the output of this process.
const HERE: &[&str] = &[
    "--input-format",
    "--permission-prompt-tool",
    "--include-hook-events",
    "--replay-user-messages",
    "--forward-subagent-text",
    "--session-mirror",
    "--resume-session-at",
    "--resume-drops-turn",
    "--await-initialize",
    "--managed-settings-in-initialize",
    "--print",
    "--continue",
    "--resume",
    "--conversation",
    "--fork-session",
    "--detach",
    "--session-id",
    "--no-session-persistence",
    "--disable-slash-commands",
    "--workspace",
    "--strict-settings",
    "--output-format",
    "--json",
    "--verbose",
    "--include-partial-messages",
    "--include-tool-use-summaries",
    "--log",
    "--log-format",
    "--store",
    "--tools-at-once",
    "--help",
    "--version",
];

// spec: LANES-14
#[test]
fn every_flag_travels_with_a_detached_prompt_or_is_refused() {
    let place = TestHome::new("when any\n  say \"done\"\n");
    std::fs::create_dir_all(place.path("home")).unwrap();
    let careful = "[profiles.careful]\neffort = \"max\"\nmax_tokens = 777\nmodel = \"haiku\"\n\
                   checklist = { Read = 1 }\n";
    place.write("home/config.toml", careful);
    place.write("bird.md", "Fly.");
    std::fs::create_dir_all(place.path("user/.claude/output-styles")).unwrap();
    place.write("user/.claude/output-styles/poet.md", "Rhyme.");
    std::fs::create_dir_all(place.path("user/.claude/agents")).unwrap();
    let bird = "---\nname: bird\ndescription: Flies\ntools: Read\n---\nChirp.";
    place.write("user/.claude/agents/bird.md", bird);
    let (store, sandbox) = (place.path("w.db"), [("IS_SANDBOX", "1")]);
    let store = ["--store", store.to_str().unwrap()];
    for (nth, (flag, value, _)) in TRAVELS.iter().enumerate() {
        let name = format!("c{nth}");
        let sent = ["-p", "go", "--detach", "--conversation", &name, flag];
        let ran = place.run_with_env(&[&sent, value.as_slice(), &store].concat(), &sandbox);
        assert_eq!(ran.code, 0, "{flag}: {}", ran.err);
    }
    let args = ["worker", "--script", "a.script", "--when-asked", "park", store[0], store[1]];
    let mut worker = place.command(&args);
    let mut worker = worker.envs(sandbox).stderr(Stdio::null()).spawn().unwrap();
    let is_over = |state: &serde_json::Value| state != "queued" && state != "running";
    let runs = || place.json(&["runs", "--limit", "1000"]);
    place.wait_until("all runs", || runs().iter().all(|run| is_over(&run["state"])));
    worker.kill().unwrap();
    worker.wait().unwrap();
    for (nth, (flag, value, shows)) in TRAVELS.iter().enumerate() {
        let settings = &place.settings_of_runs(&format!("c{nth}"))[0];
        assert!(shows(settings), "{flag} {value:?} was lost: {settings:?}");
    }
    for (flag, value) in REFUSED {
        let value = Some(*value).filter(|value| !value.is_empty());
        let ran = place.run(&[&["-p", "go", "--detach", flag], value.as_slice()].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{flag}");
        assert!(ran.err.contains("cannot be combined with --detach"), "{flag}: {}", ran.err);
    }
    // A new flag must be added to one of the lists.
    let help = place.run_bare(&["--help"]).out;
    let flags = help.split_whitespace().filter(|word| word.starts_with("--"));
    let flags = flags.map(|word| word.trim_end_matches([',', ';', '.', '`', ')', ']']));
    let is_flag = |word: &&str| {
        help.lines().any(|line| {
            let line = line.trim_start().trim_start_matches(|c: char| c != '-');
            line.starts_with(word) || line.get(4..).is_some_and(|rest| rest.starts_with(word))
        })
    };
    for flag in flags.filter(is_flag) {
        // Aliases of flags that are in the list.
        let is_alias = ["--allow", "--deny"].contains(&flag);
        let known = is_alias
            || TRAVELS.iter().any(|(name, ..)| *name == flag)
            || REFUSED.iter().any(|(name, _)| *name == flag)
            || HERE.contains(&flag);
        assert!(known, "{flag} is in no list: does it travel with a detached prompt?");
    }
}

// spec: LANES-14
#[test]
fn a_schema_and_a_list_of_tools_hold_for_a_detached_prompt() {
    let home = TestHome::new(
        r#"
when user is "wrong" and results 0
  call StructuredOutput {"m": 1}

when user is "read" and results 0
  call Bash {"command": "touch ran"}

when error of StructuredOutput
  call StructuredOutput {"n": 2}

when error of Bash
  say "no such tool"

when any
  say "done"
"#,
    );
    let schema = r#"{"type":"object","required":["n"]}"#;
    home.run_prompt_unattended(
        "wrong",
        &["--conversation", "s", "--detach", "--json-schema", schema],
    );
    let ran = home.run(&["resume", "s", "--script", "a.script", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["structured_output"], serde_json::json!({"n": 2}), "{}{}", ran.out, ran.err);
    // A tool that a run was not given does not exist for it, even if its worker has it.
    let flags = ["--conversation", "t", "--detach", "--tools", "Read", "--allow", "Bash"];
    home.run_prompt_unattended("read", &flags);
    let ran = home.run(&["resume", "t", "--script", "a.script"]);
    assert!(ran.out.contains("no such tool"), "{}{}", ran.out, ran.err);
    assert!(!home.path("ran").exists());
}

// spec: LANES-14
#[test]
fn what_counts_for_a_whole_process_is_refused_where_another_run_comes_first() {
    let home = TestHome::new(WORK);
    std::fs::create_dir_all(home.path("more")).unwrap();
    home.run_prompt_unattended("first", &["--conversation", "c", "--detach"]);
    let ran = home.run_prompt_unattended("second", &[QUICK, &["--add-dir", "more"]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("--add-dir") && ran.err.contains("windlass resume c"), "{}", ran.err);
    home.run(&["resume", "c", "--script", "a.script"]);
    let ran = home.run_prompt_unattended("second", &[QUICK, &["--add-dir", "more"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
}
