//! Flags, files and formats of print mode.

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

const WRITE: &str = r#"
when results 0
  call Write {"file_path": "new.txt", "content": "hello"}

when error of Write
  say "I was not allowed to."

when any
  say "Written."
"#;

fn parse_result(ran: &CommandOutput) -> Value {
    let last = ran.out.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| format!("{}\n{}", ran.out, ran.err)).unwrap()
}

#[test]
fn each_permission_mode_does_what_it_says() {
    let cases = [
        ("default", false),
        ("acceptEdits", true),
        ("plan", false),
        ("plan:none", false),
        ("dontAsk", false),
    ];
    for (mode, written) in cases {
        let home = TestHome::new(WRITE);
        let ran = home
            .run_prompt_unattended("go", &["--permission-mode", mode, "--output-format", "json"]);
        assert_eq!(home.path("new.txt").exists(), written, "{mode}: {}", ran.err);
        let result = parse_result(&ran);
        assert_eq!(result["subtype"], "success", "{mode}");
        let denied = result["permission_denials"].as_array().map_or(0, Vec::len);
        assert_eq!(denied == 0, written, "{mode}: {result}");
    }
}

#[test]
fn a_budget_that_is_typed_counts_more_than_that_of_a_profile() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.rich]\nbudget_usd = 5\nbudget_tokens = 90000\n");
    let stored = |conversation: &str, more: &[&str]| {
        home.run_prompt_unattended(
            "x",
            &[&["--profile", "rich", "--conversation", conversation], more].concat(),
        );
        let caps = home.settings_of_runs(conversation)[0].budget.run;
        (caps.usd_micros, caps.tokens)
    };
    assert_eq!(stored("a", &[]), (Some(5_000_000), Some(90_000)));
    let typed = ["--max-budget-usd", "1", "--max-budget-tokens", "70000"];
    assert_eq!(stored("b", &typed), (Some(1_000_000), Some(70_000)));
}

/// Works for any user: a user namespace of its own makes a process root in it.
#[test]
fn root_may_not_bypass_permissions_outside_a_sandbox() {
    let home = TestHome::new(WRITE);
    let go = ["-p", "go", "--script", "a.script", "--permission-mode", "bypassPermissions"];
    let mut command = home.command(&[]);
    let windlass = command.get_program().to_owned();
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            command.args(go);
            command
        }
        false => {
            let mut inside = home.program("unshare");
            inside.args(["--user", "--map-root-user"]).arg(windlass).args(go);
            inside
        }
    };
    let ran = CommandOutput::from(command.env("IS_SANDBOX", "0").output().unwrap());
    if ran.err.contains("unshare") {
        return; // This machine has no namespaces for ordinary users.
    }
    assert_ne!(ran.code, 0, "{}", ran.out);
    assert!(ran.err.contains("set IS_SANDBOX=1"), "{}", ran.err);
    assert!(!home.path("new.txt").exists());
}

#[test]
fn root_bypasses_permissions_in_a_sandbox_alone() {
    let go = ["-p", "go", "--script", "a.script", "--permission-mode", "bypassPermissions"];
    let home = TestHome::new(WRITE);
    let store = home.path("w.db");
    let go = [&go[..], &["--store", store.to_str().unwrap()]].concat();
    let ran = home.run_with_env(&go, &[("IS_SANDBOX", "0")]);
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(ran.code == 2, is_root, "{}", ran.err);
    assert_eq!(ran.err.contains("set IS_SANDBOX=1"), is_root, "{}", ran.err);
    assert_eq!(home.run_with_env(&go, &[("IS_SANDBOX", "1")]).code, 0);
    assert!(home.path("new.txt").exists());
}

#[test]
fn an_unknown_mode_and_an_unreadable_rule_are_told() {
    let home = TestHome::new(WRITE);
    let ran = home.run_prompt_unattended("go", &["--permission-mode", "yolo"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("'yolo'") && ran.err.contains("acceptEdits"), "{}", ran.err);
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Bash(oops"]);
    assert!(ran.code == 2 && ran.err.contains("the closing bracket is missing"), "{}", ran.err);
}

#[test]
fn stream_json_has_init_messages_and_one_result() {
    let home = TestHome::new(WRITE);
    let ran = home.run_prompt(
        "go",
        &["--allowedTools", "Write", "--output-format", "stream-json", "--verbose"],
    );
    let frames: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "user", "assistant", "result"], "{}", ran.out);
    assert_eq!(frames[0]["subtype"], "init");
    assert!(frames[0]["tools"].as_array().unwrap().contains(&Value::from("Write")));
    assert_eq!(frames[2]["message"]["content"][0]["tool_use_id"], "toolu_1_1");
    let last = &frames[4];
    for field in [
        "duration_ms",
        "duration_api_ms",
        "is_error",
        "num_turns",
        "session_id",
        "stop_reason",
        "total_cost_usd",
        "usage",
        "modelUsage",
        "permission_denials",
        "result",
        "uuid",
    ] {
        assert!(last.get(field).is_some(), "no {field} in {last}");
    }
    let same = frames.iter().all(|frame| frame["session_id"] == last["session_id"]);
    assert!(same, "{}", ran.out);
}

#[test]
fn stream_json_needs_verbose() {
    let ran = TestHome::new(WRITE).run_prompt_unattended("go", &["--output-format", "stream-json"]);
    assert!(ran.code == 2 && ran.err.contains("needs --verbose"), "{}", ran.err);
}

#[test]
fn a_conversation_is_continued_resumed_forked_and_named() {
    let home = TestHome::new("when ask 1\n  say \"first\"\nwhen any\n  say \"later\"\n");
    let id = "0190b2a0-0000-7000-8000-000000000001";
    let first = parse_result(
        &home.run_prompt_unattended("one", &["--session-id", id, "--output-format", "json"]),
    );
    assert_eq!(first["session_id"], id);
    let again = home.run_prompt_unattended("one", &["--session-id", id]);
    assert!(again.code == 1 && again.err.contains("is in use"), "{}", again.err);
    assert_eq!(home.run_prompt_unattended("two", &["--continue"]).out, "later\n");
    assert_eq!(home.run_prompt_unattended("three", &["--resume", id]).out, "later\n");
    let forked = ["--resume", id, "--fork-session", "--output-format", "json"];
    let forked = parse_result(&home.run_prompt_unattended("four", &forked));
    assert_eq!(forked["result"], "later");
    assert_ne!(forked["session_id"], id);
    let gone = home.run_prompt_unattended("five", &["--resume", "nobody"]);
    assert!(gone.code == 1 && gone.err.contains("has the id `nobody`"), "{}", gone.err);
}

#[test]
fn settings_of_an_untrusted_folder_can_only_hold_back() {
    let home = TestHome::new(WRITE);
    std::fs::create_dir(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", r#"{"permissions": {"allow": ["Write"]}}"#);
    home.run_prompt_unattended("go", &[]);
    assert!(!home.path("new.txt").exists(), "an untrusted allow rule counted");
    let trusted = home.run_bare(&["trust", "."]);
    assert_eq!(trusted.code, 0, "{}", trusted.err);
    home.run_prompt_unattended("go", &[]);
    assert!(home.path("new.txt").exists(), "a trusted allow rule did not count");
    let mode = ["--permission-mode", "acceptEdits"];
    home.write(".claude/settings.json", r#"{"permissions": {"deny": ["Write"]}}"#);
    assert_eq!(home.run_bare(&["trust", ".", "--revoke"]).code, 0);
    std::fs::remove_file(home.path("new.txt")).unwrap();
    home.run_prompt_unattended("go", &mode);
    assert!(!home.path("new.txt").exists(), "an untrusted deny rule did not count");
}

// spec: PERMISSIONS-14
#[test]
fn an_untrusted_folder_gives_text_and_nothing_else() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"printenv GREETING > said\"}\n  \
         call Write {\"file_path\": \"new.txt\", \"content\": \"x\"}\n  \
         call Bash {\"command\": \"touch forbidden\"}\nwhen any\n  say \"done\"\n",
    );
    std::fs::create_dir(home.path(".claude")).unwrap();
    home.write(
        ".claude/settings.json",
        r#"{"permissions": {"allow": ["Write"], "deny": ["Bash(touch:*)"]},
            "env": {"GREETING": "hi"},
            "hooks": {"PreToolUse": [{"matcher": "Bash",
                "hooks": [{"type": "command", "command": "echo hooked > hooked"}]}]}}"#,
    );
    home.write("CLAUDE.md", "Always answer in verse.");
    let allow = ["--allowedTools", "Bash", "--conversation"];
    let left = |name: &str| std::fs::read_to_string(home.path(name)).unwrap_or_default();
    home.run_prompt_unattended("go", &[&allow[..], &["untrusted"]].concat());
    assert_eq!((left("said").as_str(), left("new.txt").as_str()), ("", ""));
    assert!(home.path("said").exists(), "the command ran");
    assert!(!home.path("hooked").exists() && !home.path("forbidden").exists());
    let store = std::fs::read(home.path("w.db")).unwrap();
    assert!(String::from_utf8_lossy(&store).contains("Always answer in verse."));
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    home.run_prompt_unattended("go", &[&allow[..], &["trusted"]].concat());
    assert_eq!((left("said").as_str(), left("new.txt").as_str()), ("hi\n", "x"));
    assert!(home.path("hooked").exists() && !home.path("forbidden").exists());
}

#[test]
fn bad_settings_are_one_sentence() {
    let home = TestHome::new(WRITE);
    std::fs::create_dir(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", "{not json");
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.code == 2 && ran.err.contains("settings.json are not valid"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    let ran =
        home.run_prompt_unattended("go", &["--setting-sources", "", "--settings", "nowhere.json"]);
    assert!(ran.code == 2 && ran.err.contains("does not exist"), "{}", ran.err);
}

#[test]
fn memory_files_reach_the_model() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    home.write("CLAUDE.md", "Always answer in verse.\n");
    home.run_prompt_unattended("one", &["--conversation", "c"]);
    let shown = home.run(&["replay", "c"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    let store = std::fs::read(home.path("w.db")).unwrap();
    let stored = String::from_utf8_lossy(&store);
    assert!(stored.contains("Always answer in verse."));
}

// spec: WINDOW-22
#[test]
fn memory_files_of_folders_on_the_way_are_told_once() {
    let home = TestHome::new(
        "when user is \"look\" and results 0\n  call Read {\"file_path\": \"src/deep/a.txt\"}\n\
         when user contains \"of deep\"\n  say \"Told.\"\nwhen any\n  say \"Not told.\"\n",
    );
    std::fs::create_dir_all(home.path("src/deep/secrets")).unwrap();
    for (name, text) in [
        ("src/CLAUDE.md", "of src"),
        ("src/AGENTS.md", "of src"),
        ("src/deep/AGENTS.md", "of deep"),
        ("src/deep/a.txt", "x"),
        ("src/deep/secrets/CLAUDE.md", "of secrets"),
    ] {
        home.write(name, text);
    }
    // A link that leads out of the workspace is not a memory file.
    std::os::unix::fs::symlink("/etc/passwd", home.path("src/deep/CLAUDE.md")).unwrap();
    let ran = home.run_prompt_unattended("look", &["--conversation", "c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Told.\n"), "{}", ran.err);
    // Both files are context of one result, which is one line.
    assert_eq!(ran.err.matches("instruction files were added").count(), 1, "{}", ran.err);
    // Another process finds them again and reports nothing.
    let ran = home.run_prompt_unattended("look", &["--conversation", "c"]);
    assert!(!ran.err.contains("instruction files were added"), "{}", ran.err);
    let log = home.run(&["logs", "c", "--json"]).out + &home.run(&["show", "c", "--json"]).out;
    assert!(!log.contains("root:") && !log.contains("of secrets"), "{log}");
}

// spec: WINDOW-22
#[test]
fn what_is_wrong_with_memory_files_of_subfolders_is_told() {
    let home = TestHome::new(
        "when user is \"look\" and results 0\n  call Read {\"file_path\": \"sub/a.txt\"}\n\
         \x20 call Read {\"file_path\": \"linked/a.txt\"}\n\
         when user contains \"of style\"\n  say \"Imported.\"\nwhen any\n  say \"Not imported.\"\n",
    );
    for folder in ["sub", "linked", ".claude"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
        home.write(&format!("{folder}/a.txt"), "x");
    }
    home.write("sub/CLAUDE.md", &format!("See @style.md\n{}", "word ".repeat(18_000)));
    home.write("sub/style.md", "of style");
    home.write("outside.md", "of nobody");
    std::os::unix::fs::symlink("../outside.md", home.path("linked/CLAUDE.md")).unwrap();
    home.write(".claude/settings.json", r#"{"permissions": {"allow": ["Read"]}}"#);
    let ran = home.run_prompt_unattended("look", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Not imported.\n"), "{}", ran.err);
    let said = |what: &str| ran.err.matches(what).count();
    assert_eq!(said("sub/CLAUDE.md is longer than 64 KiB"), 1, "{}", ran.err);
    assert_eq!(said("sub/CLAUDE.md are ignored"), 1, "{}", ran.err);
    assert_eq!(said("the instructions in"), 1, "{}", ran.err);
    assert!(ran.err.contains("linked/CLAUDE.md are ignored"), "{}", ran.err);
    // In a trusted folder imports are followed.
    assert_eq!(home.run_bare(&["trust"]).code, 0);
    let ran = home.run_prompt_unattended("look", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Imported.\n"), "{}", ran.err);
}

#[test]
fn limits_budgets_and_profiles_are_set_by_name() {
    let home = TestHome::new("when any\n  call Read {\"file_path\": \"a.txt\"}\n");
    home.write("a.txt", "x");
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.short]\nlimits = { tool_rounds = 2 }\n");
    let json = |more: &[&str]| {
        home.run_prompt_unattended("go", &[more, &["--output-format", "json"]].concat())
    };
    assert_eq!(parse_result(&json(&["--profile", "short"]))["num_turns"], 3);
    assert_eq!(parse_result(&json(&["--set", "tool_rounds=1"]))["num_turns"], 2);
    assert_eq!(parse_result(&json(&["--profile", "short", "--max-turns", "1"]))["num_turns"], 2);
    let circles = parse_result(&json(&["--profile", "router"]));
    assert_eq!(circles["terminal_reason"], "waiting_on_human", "{circles}");
    assert!(circles["num_turns"].as_u64().unwrap() < 12, "{circles}");
    let tokens = parse_result(&json(&["--max-budget-tokens", "1500"]));
    assert_eq!(tokens["terminal_reason"], "budget_tokens");
    let dollars = parse_result(&json(&["--max-budget-usd", "0.5"]));
    assert_eq!(dollars["terminal_reason"], "price_unknown", "{dollars}");
    assert!(dollars["errors"][0].as_str().unwrap().contains("price"), "{dollars}");
    for (bad, says) in [
        (["--profile", "nobody"], "unknown profile `nobody`"),
        (["--set", "no_such=1"], "unknown limit no_such"),
        (["--set", "tool_rounds"], "is not NAME=VALUE"),
        (["--max-budget-usd", "-1"], "number of dollars above 0"),
    ] {
        let ran = json(&bad);
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
    }
}

#[test]
fn the_tools_on_offer_are_chosen() {
    let home =
        TestHome::new("when tools include Bash\n  say \"shell\"\nwhen any\n  say \"none\"\n");
    assert_eq!(home.run_prompt_unattended("go", &["--tools", "Read,Bash"]).out, "shell\n");
    assert_eq!(home.run_prompt_unattended("go", &["--tools", ""]).out, "none\n");
    assert_eq!(home.run_prompt_unattended("go", &["--disallowedTools", "Bash"]).out, "none\n");
    let ran = home.run_prompt_unattended("go", &["--tools", "Hammer"]);
    assert!(ran.code == 2 && ran.err.contains("unknown tool Hammer"), "{}", ran.err);
}

#[test]
fn the_demo_really_happens() {
    let place = TestHome::new("");
    std::fs::create_dir(place.path("tmp")).unwrap();
    let temp = place.path("tmp");
    let around = [("COLUMNS", "80"), ("TMPDIR", temp.to_str().unwrap())];
    let ran = place.run_with_env(&["demo"], &around);
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text}: {}", ran.out));
    assert!(at("deploy the shop, exactly once.") < at("\n2. In the middle"), "{}", ran.out);
    assert!(ran.out.contains("✓ it was deployed exactly once"), "{}", ran.out);
    // A failed call is indented further; a failed step of the demo is indented like this.
    assert!(!ran.out.lines().any(|line| line.starts_with("   ✗ ")), "{}", ran.out);
    let names = |folder: &str| {
        let found = std::fs::read_dir(place.path(folder)).into_iter().flatten();
        found.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    assert!(names("tmp").is_empty(), "it leaves {:?} behind", names("tmp"));
    assert!(names("home").is_empty(), "it leaves {:?} in the user's state", names("home"));
    assert_eq!(place.run_with_env(&["demo", "--keep"], &around).code, 0);
    assert_eq!(names("tmp").len(), 1, "what is to be kept is kept");
}

// spec: STOP-18, WINDOW-05
/// What a built-in profile requires of an answer, and its limits.
#[test]
fn builder_and_router_are_profiles_with_a_checklist_and_limits() {
    let home = TestHome::new(
        "when user is \"mend\" and results 0\n  call TodoWrite {\"todos\": [{\"content\": \"a\", \"status\": \
         \"completed\", \"activeForm\": \"a\"}]}\n  call Read {\"file_path\": \"a.txt\"}\n\
         when user is \"mend\" and result of Read\n  call Edit {\"file_path\": \"a.txt\", \
         \"old_string\": \"x\", \"new_string\": \"y\"}\nwhen any\n  say \"done\"\n",
    );
    home.write("a.txt", "x");
    let explained = |profile: &str, prompt: &str| {
        let flags = ["--profile", profile, "--conversation", prompt, "--allow", "Edit"];
        home.run_prompt_unattended(prompt, &[&flags[..], &["--output-format", "json"]].concat());
        let out = home.run(&["explain", prompt]).out;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let output = explained("builder", "build");
    for part in [
        "TodoWrite must succeed at least once (so far never)",
        "Write or Edit must succeed at least once",
        " of 50 rounds",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    // A task that fixes a file changes it, as the checklist requires.
    let output = explained("builder", "mend");
    assert!(!output.contains("suspect") && output.contains("It stopped (end_turn)"), "{output}");
    assert_eq!(std::fs::read_to_string(home.path("a.txt")).unwrap(), "y");
    let output = explained("router", "route");
    for part in [
        "Agent must succeed at least once",
        "of 12 rounds",
        "of 34 model calls",
        "5 min 0 s",
        "7 min 0 s",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn profiles_and_models_bring_their_settings() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    let stored = |name: &str| {
        let store = std::fs::read(home.path("w.db")).unwrap();
        String::from_utf8_lossy(&store).contains(name)
    };
    // Nothing listens there: the settings are stored, and the call fails at once.
    let asked = ["-p", "hi", "--model", "sonnet", "--set", "model_retries=1"];
    let quick = ["--set", "model_retry_ms=1", "--set", "provider_wait_ms=0"];
    let nowhere = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    let here = ["--store", "w.db"];
    let ran = home.run_with_env(&[&asked[..], &quick[..], &here[..]].concat(), &nowhere);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let cheap = "\"summariser\":{\"model\":{\"name\":\"claude-haiku-5-5\"";
    assert!(stored(cheap), "{}", ran.err);
}

// spec: GUARDS-11, GUARDS-13
#[test]
#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
fn time_limits_leave_an_answer_or_end_the_run_with_its_processes() {
    let place = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"while :; do echo x >> alive; sleep 0.05; done\"}\n\
         when any\n  say \"so far so good\"\n",
    );
    std::fs::create_dir(place.path("home")).unwrap();
    // On a loaded machine the first reply may take longer than a soft limit.
    let profiles = "[profiles.soft]\ntimes = { soft_ms = 1500, hard_ms = 60000, grace_ms = 0 }\n\
                    [profiles.hard]\ntimes = { soft_ms = 1490, hard_ms = 1500, grace_ms = 60000 }\n";
    place.write("home/config.toml", profiles);
    let json = |profile: &str| {
        let flags = ["--profile", profile, "--allow", "Bash", "--output-format", "json"];
        parse_result(&place.run_prompt_unattended("go", &flags))
    };
    let soft = json("soft");
    assert_eq!((&soft["subtype"], &soft["partial"]), (&"success".into(), &true.into()), "{soft}");
    assert_eq!(soft["result"], "so far so good");
    let hard = json("hard");
    assert_eq!(hard["terminal_reason"], "hard_time", "{hard}");
    // The command has a process id of its own in the sandbox: what it does is seen from its file.
    let is_quiet = || {
        drop(std::fs::remove_file(place.path("alive")));
        std::thread::sleep(std::time::Duration::from_millis(400));
        !place.path("alive").exists()
    };
    assert!((0..10).any(|_| is_quiet()), "the command outlived its run");
}

#[test]
fn pieces_come_as_the_events_of_whole_messages() {
    let home = TestHome::new(
        "when results 0\n  think \"Hm.\"\n  say \"Look.\"\n  call Read {\"file_path\": \"a.script\"}\n\
         when any\n  say \"Done.\"\n",
    );
    let flags = ["--output-format", "stream-json", "--verbose", "--include-partial-messages"];
    let ran = home.run_prompt_unattended("go", &flags);
    let frames: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(frames[0]["subtype"], "init", "{}", ran.out);
    let events = frames.iter().filter(|frame| frame["type"] == "stream_event");
    let kinds: Vec<&str> = events.map(|frame| frame["event"]["type"].as_str().unwrap()).collect();
    let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
    assert_eq!((count("message_start"), count("message_stop")), (2, 2), "{kinds:?}");
    assert_eq!((count("content_block_start"), count("content_block_stop")), (4, 4), "{kinds:?}");
    assert_eq!(count("message_delta"), 2, "{kinds:?}");
    // A message has one id, in its events and in the complete message.
    let id = |frame: &&Value| frame["event"]["message"]["id"].as_str().map(str::to_owned);
    let begun: Vec<String> = frames.iter().filter_map(|frame| id(&frame)).collect();
    let whole = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(whole["message"]["id"], begun[0].as_str());
}

#[test]
fn a_conversation_goes_on_with_the_model_it_was_begun_with() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    std::fs::create_dir(home.path("home")).unwrap();
    // Nothing listens there; only the selected model matters.
    let lab = "[providers.lab]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    home.write("home/config.toml", lab);
    let quick = ["model_retries=1", "model_retry_ms=1", "provider_wait_ms=0"];
    let quick = quick.map(|limit| ["--set", limit]).concat();
    let begin = ["-p", "one", "--conversation", "c", "--model", "lab:mine"];
    home.run(&[&begin[..], &quick].concat());
    for go_on in [["--continue", "--verbose"], ["--resume", "c"], ["--conversation", "c"]] {
        let ran = home.run(&[&["-p", "two"], &go_on[..], &quick].concat());
        assert!(ran.err.contains("127.0.0.1:9"), "{go_on:?}: {}", ran.err);
    }
    // A scripted model is not remembered.
    home.run_prompt_unattended("one", &["--conversation", "s"]);
    let ran = home.run(&["-p", "two", "--resume", "s"]);
    assert!(ran.code == 2 && ran.err.contains("no model chosen"), "{}", ran.err);
}
