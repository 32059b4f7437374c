//! Flags of `claude` that the Agent SDKs pass, as requests and runs show them.

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::{CommandOutput, TestHome};

const SAY: &str = "when any\n  say \"Hi.\"\n";
const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];
const SDK: [(&str, &str); 1] = [("CLAUDE_AGENT_SDK_VERSION", "0.2.182")];

fn init_frame(ran: &CommandOutput) -> Value {
    let first = ran.out.lines().next().unwrap_or_default();
    serde_json::from_str(first).map_err(|_| format!("{}\n{}", ran.out, ran.err)).unwrap()
}

/// The system prompt of a request, as one text.
fn system_prompt(body: &Value) -> String {
    let blocks = body["system"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn tool_names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_system_prompt_can_be_in_a_file() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    home.write("mine.md", "You are a pirate.\n");
    home.write("more.md", "Say arr.");
    let (sent, _) = server.run_prompt(
        &home,
        &[
            "--model=sonnet",
            "--system-prompt-file=mine.md",
            "--append-system-prompt-file",
            "more.md",
        ],
    );
    assert_eq!(system_prompt(&sent.body), "You are a pirate.\n\n\nSay arr.");
    let (sent, _) =
        server.run_prompt(&home, &["--model", "sonnet", "--append-system-prompt-file", "more.md"]);
    let system = system_prompt(&sent.body);
    assert!(
        system.contains("with tools, in the folder") && system.ends_with("Say arr."),
        "{system}"
    );
    let ran = home.run_prompt("x", &["--system-prompt-file", "none.md"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("cannot read none.md, given with --system-prompt-file"),
        "{}",
        ran.err
    );
    let ran = home.run_prompt("x", &["--system-prompt-file", "mine.md", "--system-prompt", "y"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{}", ran.err);
}

// spec: SDK-31
#[test]
fn an_empty_system_prompt_sends_none() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    for flags in [&["--system-prompt", ""][..], &["--system-prompt="]] {
        let (sent, _) = server.run_prompt(&home, &[&["--model", "sonnet"], flags].concat());
        assert_eq!(system_prompt(&sent.body), "");
    }
}

#[test]
fn thinking_is_chosen_and_its_display_too() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "max_thinking_tokens = 2000\n");
    let thinking = |flags: &[&str]| {
        let (sent, _) = server.run_prompt(&home, flags);
        sent.body["thinking"].clone()
    };
    let budgeted = ["--model", "claude-sonnet-4-5"];
    let with = |flags: &[&'static str]| [&budgeted[..], flags].concat();
    assert_eq!(thinking(&with(&[])), json!({"type": "enabled", "budget_tokens": 2000}));
    assert_eq!(thinking(&with(&["--thinking=adaptive"])), Value::Null);
    assert_eq!(thinking(&with(&["--thinking", "disabled"])), json!({"type": "disabled"}));
    assert_eq!(
        thinking(&with(&["--max-thinking-tokens=3000", "--thinking-display=omitted"])),
        json!({"type": "enabled", "budget_tokens": 3000, "display": "omitted"})
    );
    // A model that thinks without being told needs the parameter for its display alone.
    let adaptive = ["--model", "opus", "--thinking", "adaptive"];
    assert_eq!(
        thinking(&[&adaptive[..], &["--thinking-display", "summarized"]].concat()),
        json!({"type": "adaptive", "display": "summarized"})
    );
    let ran = home.run_prompt("x", &["--thinking", "adaptive", "--max-thinking-tokens", "5"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn the_next_fallback_is_called_when_the_one_before_is_down_too() {
    let home = TestHome::new("");
    let down = ("529 Overloaded", r#"{"error": {"type": "overloaded_error", "message": "busy"}}"#);
    let server = RecordingServer::start_failing(&[down; 4]);
    let flags = [
        "-p",
        "hi",
        "--store",
        "w.db",
        "--model",
        "opus",
        "--fallback-model=opus,sonnet, haiku",
        "--set",
        "fallback_failures=2",
        "--set",
        "model_retry_ms=1",
        "--verbose",
        "--output-format",
        "stream-json",
    ];
    let ran = home.run_with_env(&flags, &server.keys());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let requests = server.recorded_requests();
    let models: Vec<&str> =
        requests.iter().filter_map(|sent| sent.body["model"].as_str()).collect();
    assert_eq!(models.len(), 5, "{models:?}");
    assert!(models[0].contains("opus") && models[1] == models[0], "{models:?}");
    assert!(models[2].contains("sonnet") && models[3] == models[2], "{models:?}");
    assert!(models[4].contains("haiku"), "{models:?}");
    let switches = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let switches: Vec<Value> =
        switches.filter(|frame| frame["subtype"] == "model_fallback").collect();
    assert_eq!(switches.len(), 2);
    assert_eq!(switches[0]["fallback_model"], models[2]);
    assert_eq!(switches[1]["original_model"], models[2]);
    assert_eq!(switches[1]["fallback_model"], models[4]);
}

#[test]
fn betas_may_be_an_empty_list() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    let (sent, _) = server.run_prompt(&home, &["--model", "sonnet", "--betas="]);
    let (named, _) = server.run_prompt(&home, &["--model", "sonnet", "--betas", "a-beta,b-beta"]);
    let header = |head: &str| {
        let header = head.lines().find(|line| line.to_lowercase().starts_with("anthropic-beta:"));
        header.unwrap_or_default().to_owned()
    };
    assert!(!header(&sent.head).contains("a-beta"), "{}", sent.head);
    assert!(header(&named.head).contains("a-beta") && header(&named.head).contains("b-beta"));
}

const AGENTS: &str = r#"{"counter": {"description": "Counts", "prompt": "You count tiles.",
    "tools": ["Read", "WebFetch"], "model": "haiku", "maxTurns": 2}}"#;

#[test]
fn agents_can_be_given_as_json() {
    let script = r#"
when user is "count the tiles" and tools include Write
  say "Twelve, and I could write."
when user is "count the tiles"
  say "Twelve."
when results 0
  call Agent {"description": "count", "prompt": "count the tiles", "subagent_type": "counter"}
when any
  say "They say: ${result}"
"#;
    let home = TestHome::new(script);
    let ran = home.run_prompt_unattended("how many?", &["--agents", AGENTS]);
    assert!(ran.out.contains("They say: Twelve."), "{} {}", ran.out, ran.err);
    let ran = home.run_prompt_unattended("how many?", &[&["--agents", AGENTS], STREAM].concat());
    assert_eq!(init_frame(&ran)["agents"], json!(["general-purpose", "counter"]));
    let ran = home.run_prompt_unattended("how many?", &["--agents", "{\"x\": {}}"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the agent `x` is not valid: missing field"), "{}", ran.err);
    // They cannot travel with a prompt.
    let ran = home.run_prompt_unattended("how many?", &["--agents", AGENTS, "--detach"]);
    assert!(ran.code == 2 && ran.err.contains("--agents cannot be combined"), "{}", ran.err);
}

#[test]
fn definitions_of_agents_may_be_large() {
    let home = TestHome::new(SAY);
    let prompt = "x".repeat(12_500);
    let agents: serde_json::Map<String, Value> = (0..20)
        .map(|n| (format!("agent-{n}"), json!({"description": "One of many", "prompt": prompt})))
        .collect();
    let (first, second): (Vec<_>, Vec<_>) =
        agents.into_iter().enumerate().partition(|(n, _)| n % 2 == 0);
    assert_eq!(first.len() + second.len(), 20);
    // One argument of a Linux process can have 128 KiB.
    let agents = Value::Object(first.into_iter().map(|(_, agent)| agent).collect()).to_string();
    assert!(agents.len() > 120_000 && agents.len() < 131_000, "{}", agents.len());
    let ran = home.run_prompt_unattended("hi", &[&["--agents", &agents], STREAM].concat());
    assert_eq!(init_frame(&ran)["agents"].as_array().map(Vec::len), Some(11), "{}", ran.err);
}

#[test]
fn the_conversation_itself_can_be_an_agent() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    let agent = ["--agents", AGENTS, "--agent", "counter"];
    let (sent, _) = server.run_prompt(&home, &agent);
    assert!(system_prompt(&sent.body).starts_with("You count tiles."), "{}", sent.body);
    assert_eq!(tool_names(&sent.body), ["Read", "WebFetch"]);
    assert!(sent.body["model"].as_str().unwrap().contains("haiku"));
    // What is typed overrides the agent.
    let typed = ["--model", "opus", "--system-prompt", "Mine.", "--tools", "Read,Grep"];
    let (sent, _) = server.run_prompt(&home, &[&agent[..], &typed].concat());
    assert_eq!(
        (system_prompt(&sent.body).as_str(), tool_names(&sent.body)),
        ("Mine.", vec!["Read"])
    );
    assert!(sent.body["model"].as_str().unwrap().contains("opus"));
    let ran = home.run_prompt("x", &["--agents", AGENTS, "--agent=nobody"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("unknown agent `nobody`; available: counter"), "{}", ran.err);
    let (sent, _) = server.run_prompt(&home, &["--agent", "general-purpose"]);
    assert!(tool_names(&sent.body).contains(&"Bash"), "a built-in agent: {}", sent.body);
    let ran = home.run_prompt("x", &["--agent", "nobody"]);
    assert!(ran.err.contains("unknown agent `nobody`; define it with --agents"), "{}", ran.err);
}

#[test]
fn a_conversation_can_leave_nothing_behind() {
    let script =
        "when results 0\n  call Read {\"file_path\": \"a.txt\"}\nwhen any\n  say \"Read.\"\n";
    let home = TestHome::new(script);
    home.write("a.txt", "x");
    let ran = home.run_prompt("go", &["--no-session-persistence"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Read.\n"), "{}", ran.err);
    assert!(!home.path("w.db").exists());
    assert!(!home.path("home").exists());
    let id = "0190aaaa-0000-7000-8000-000000000001";
    let ran = home.run_prompt("go", &["--no-session-persistence", "--json", "--session-id", id]);
    assert!(ran.out.contains(id), "{}", ran.out);
    let ran = home.run_prompt("go", &["--no-session-persistence", "--continue"]);
    assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{}", ran.err);
}

#[test]
fn slash_commands_can_be_switched_off() {
    let home =
        TestHome::new("when user is \"/cost\"\n  say \"As it is.\"\nwhen any\n  say \"no\"\n");
    let ran = home.run_prompt("/cost", &["--disable-slash-commands"]);
    assert_eq!(ran.out, "As it is.\n", "{}", ran.err);
    let ran = home.run_prompt("/cost", &[&["--disable-slash-commands"], STREAM].concat());
    assert_eq!(init_frame(&ran)["slash_commands"], json!([]));
}

// spec: SDK-31
#[test]
fn unknown_flags_of_an_sdk_are_reported_and_ignored() {
    let home = TestHome::new(SAY);
    let flags = ["-p", "hi", "--script", "a.script", "--store", "w.db", "--brand-new=1", "--newer"];
    let ran = home.run_with_env(&flags, &SDK);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"));
    let note = |flag| format!("windlass: the option {flag} is unknown and ignored\n");
    assert_eq!(ran.err, note("--brand-new") + &note("--newer"));
    let ran = home.run_bare(&flags);
    assert!(ran.code == 2 && ran.err.contains("--brand-new"), "{}", ran.err);
}

// spec: SDK-31
#[test]
fn flags_without_effect_are_accepted() {
    let home = TestHome::new(SAY);
    let flags = [
        "--channels=a",
        "--project-config-root",
        "-x",
        "--prompt-suggestions",
        "--exclude-dynamic-system-prompt-sections",
        "--system-prompt-snapshot",
        "off",
        "-n",
        "My title",
        "--allow-dangerously-skip-permissions",
        "--permission-prompts=none",
        "--chrome",
    ];
    let ran = home.run_prompt("hi", &flags);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "Hi.\n", ""));
    let help = home.run_bare(&["--help"]).out;
    for hidden in ["channels", "plugin-dir-no-mcp", "permission-prompts", "debug-file"] {
        assert!(!help.contains(hidden), "{hidden}");
    }
}

#[test]
fn no_turn_limit_is_zero_for_an_sdk() {
    let home = TestHome::new(SAY);
    let flags = ["-p", "hi", "--script", "a.script", "--store", "w.db", "--conversation", "c"];
    let flags = [&flags[..], &["--max-turns=0"]].concat();
    assert_eq!(home.run_with_env(&flags, &SDK).code, 0);
    assert_eq!(home.settings_of_runs("c")[0].limits.tool_rounds, 10_000);
    let ran = home.run_bare(&flags);
    assert!(ran.code == 2 && ran.err.contains("whole number above 0"), "{}", ran.err);
}

#[test]
fn managed_settings_override_those_of_the_user() {
    let script =
        "when results 0\n  call Bash {\"command\": \"touch made\"}\nwhen any\n  say \"Done.\"\n";
    let home = TestHome::new(script);
    let allow = r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#;
    let deny = r#"{"permissions": {"deny": ["Bash(touch:*)"]}}"#;
    home.run_prompt("go", &["--settings", allow, "--managed-settings", deny]);
    assert!(!home.path("made").exists());
    home.run_prompt("go", &["--settings", allow]);
    assert!(home.path("made").exists());
}

#[test]
fn no_one_is_asked_without_permission_prompts() {
    let script =
        "when results 0\n  call Bash {\"command\": \"touch made\"}\nwhen any\n  say \"Done.\"\n";
    let home = TestHome::new(script);
    let ran = home.run_prompt_unattended("go", &["--permission-prompts", "none"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(!home.path("made").exists());
}

#[test]
fn debug_writes_the_log_to_standard_error_or_a_file() {
    let home = TestHome::new(SAY);
    let ran = home.run_prompt("hi", &["--debug"]);
    assert!(ran.err.contains("DEBUG") || ran.err.contains("INFO"), "{}", ran.err);
    let ran = home.run_prompt("hi", &["--debug-file=log.txt"]);
    assert_eq!(ran.err, "");
    assert!(std::fs::read_to_string(home.path("log.txt")).unwrap().contains("windlass"));
}

#[test]
fn the_version_begins_with_that_of_the_protocol() {
    let home = TestHome::new(SAY);
    let ran = home.run_bare(&["-v"]);
    assert!(ran.out.starts_with("2.1.") && ran.out.contains("(windlass "), "{}", ran.out);
    assert!(home.run_bare(&["--version"]).out.starts_with("windlass "));
}

#[test]
fn a_bare_run_reads_no_files() {
    let home = TestHome::new("");
    let server = RecordingServer::start();
    std::fs::create_dir_all(home.path("user/.claude/agents")).unwrap();
    home.write("user/.claude/agents/a.md", "---\nname: mine\ndescription: x\n---\nDo it.");
    home.write("user/.claude/settings.json", r#"{"model": "haiku"}"#);
    let seen = |flags: &[&str]| {
        let (sent, _) = server.run_prompt(&home, flags);
        let model = sent.body["model"].as_str().unwrap_or_default().to_owned();
        (model.contains("haiku"), sent.body.to_string().contains("- mine: x"))
    };
    assert_eq!(seen(&[]), (true, true));
    assert_eq!(seen(&["--bare"]), (false, false));
}
