//! Valid hook configurations, and the errors about invalid ones.

use windlass_core::settings::conversation_settings::HookPresence;

use super::config::{HookAction, HookConfig, HookEvent, IgnoredHook};

fn matching_commands(config: &HookConfig, event: HookEvent, subject: &str) -> Vec<String> {
    let actions = config.matching_hooks(event, subject).map(|(_, hook)| match &hook.action {
        HookAction::Command(command) => command.clone(),
        HookAction::Callback(id) => format!("callback {id}"),
        HookAction::Http(http) => http.url.to_string(),
        HookAction::Prompt(text) => text.clone(),
    });
    actions.collect()
}

const SETTINGS: &str = r#"{
    "permissions": {"allow": ["Read"]},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a", "timeout": 2}]},
            {"matcher": "mcp__.*", "hooks": [{"type": "command", "command": "b"}]},
            {"hooks": [{"type": "command", "command": "c"}, {"type": "agent", "prompt": "?"}]}
        ],
        "Stop": [{"matcher": "ignored", "hooks": [{"type": "command", "command": "d"}]}],
        "FileChanged": []
    }
}"#;

#[test]
fn matchers_are_names_patterns_or_nothing() {
    let config = HookConfig::parse(SETTINGS).unwrap();
    assert_eq!(matching_commands(&config, HookEvent::PreToolUse, "Bash"), ["a", "c"]);
    assert_eq!(matching_commands(&config, HookEvent::PreToolUse, "TaskOutput"), ["c"]);
    assert_eq!(matching_commands(&config, HookEvent::PreToolUse, "mcp__git__log"), ["b", "c"]);
    assert_eq!(matching_commands(&config, HookEvent::Stop, ""), ["d"]);
    assert_eq!(
        config.matching_hooks(HookEvent::PreToolUse, "Edit").next().unwrap().1.timeout_ms,
        2_000
    );
    let elsewhere = |what: &str| IgnoredHook::Unsupported(what.to_owned());
    let ignored = [elsewhere("type of hook `agent`"), elsewhere("hook event `FileChanged`")];
    assert_eq!(config.ignored_entries(), ignored);
}

#[test]
fn a_pattern_matches_a_part_of_a_name_and_names_match_whole() {
    let fits = |matcher: &str, tool: &str| {
        let hook = r#"{"type": "command", "command": "a"}"#;
        let text = format!(r#"{{"PreToolUse": [{{"matcher": "{matcher}", "hooks": [{hook}]}}]}}"#);
        !matching_commands(&HookConfig::parse(&text).unwrap(), HookEvent::PreToolUse, tool)
            .is_empty()
    };
    assert!(fits("^Notebook", "NotebookEdit") && fits("Edit$", "NotebookEdit"));
    assert!(fits("mcp__.*__write", "mcp__fs__write_file"));
    assert!(!fits("Bash", "TaskOutput") && !fits("Edit|Write", "NotebookEdit"));
}

#[test]
fn the_end_of_a_session_waits_for_hooks_a_moment_only() {
    let timeout = |event: HookEvent, timeout: &str| {
        let hook = format!(r#"{{"type": "command", "command": "a"{timeout}}}"#);
        let text = format!(r#"{{"{}": [{{"hooks": [{hook}]}}]}}"#, event.name());
        let config = HookConfig::parse(&text).unwrap();
        config.matching_hooks(event, "other").next().unwrap().1.timeout_ms
    };
    assert_eq!(timeout(HookEvent::SessionEnd, ""), 1_500);
    assert_eq!(timeout(HookEvent::SessionEnd, r#", "timeout": 5"#), 5_000);
    assert_eq!(timeout(HookEvent::SessionEnd, r#", "timeout": 9000"#), 60_000);
    assert_eq!(timeout(HookEvent::Stop, ""), 60_000);
    assert_eq!(timeout(HookEvent::Stop, r#", "timeout": 9000"#), 600_000);
}

#[test]
fn the_sub_agent_tool_is_known_by_both_its_names() {
    let text =
        r#"{"PreToolUse": [{"matcher": "Task", "hooks": [{"type": "command", "command": "a"}]}]}"#;
    let config = HookConfig::parse(text).unwrap();
    assert_eq!(matching_commands(&config, HookEvent::PreToolUse, "Agent"), ["a"]);
}

#[test]
fn only_where_somebody_listens_is_anybody_asked() {
    let points = HookConfig::parse(SETTINGS).unwrap().hook_points();
    assert_eq!(points.before_tool, HookPresence::Present);
    assert_eq!(points.answer, HookPresence::Present);
    assert_eq!(points.after_tool, HookPresence::Absent);
    assert_eq!(points.prompt, HookPresence::Absent);
}

#[test]
fn the_hash_is_of_what_was_read() {
    let config = HookConfig::parse(SETTINGS).unwrap();
    assert_eq!(config.hash().len(), 64);
    assert_ne!(config.hash(), HookConfig::parse("{}").unwrap().hash());
}

#[test]
fn what_cannot_be_read_is_told_in_one_sentence() {
    let huge = format!(r#"{{"Stop": "{}"}}"#, "x".repeat(2_000_000));
    let bomb = "a{1000}".repeat(200);
    let bomb = format!(r#"{{"PreToolUse": [{{"matcher": "{bomb}", "hooks": []}}]}}"#);
    let many = [r#"{"type": "command", "command": "x"}"#; 300].join(",");
    let many = format!(r#"{{"Stop": [{{"hooks": [{many}]}}]}}"#);
    for (text, expected) in [
        ("nonsense", "expected"),
        ("[]", "an object of events"),
        (r#"{"Stop": 3}"#, "Stop: "),
        (r#"{"PreToolUse": [{"matcher": "(", "hooks": []}]}"#, "not a regular expression"),
        (r#"{"Stop": [{"hooks": [{"type": "command", "command": " "}]}]}"#, "empty"),
        (r#"{"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": -1}]}]}"#, "-1"),
        (r#"{"Stop": [{"onFailure": "panic", "hooks": []}]}"#, "block or ignore"),
        (&huge, "more than"),
        (&bomb, "not a regular expression"),
        (&many, "more than 256"),
    ] {
        let error = HookConfig::parse(text).unwrap_err().to_string();
        assert!(error.starts_with("invalid hooks: ") && error.contains(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn callbacks_are_registered_with_matchers_and_timeouts() {
    let config = HookConfig::parse_callbacks(&serde_json::json!({
        "PreToolUse": [
            {"matcher": "Bash", "hookCallbackIds": ["h0", "h1"], "timeout": 1800},
            {"matcher": null, "hookCallbackIds": ["h2"], "onFailure": "block"},
        ],
        "PermissionRequest": [{"hookCallbackIds": ["h3"]}],
        "FromTomorrow": [{"hookCallbackIds": ["h4"]}],
        "Stop": null,
    }))
    .unwrap();
    let called = matching_commands(&config, HookEvent::PreToolUse, "Bash");
    assert_eq!(called, ["callback h0", "callback h1", "callback h2"]);
    assert_eq!(matching_commands(&config, HookEvent::PreToolUse, "Read"), ["callback h2"]);
    assert_eq!(config.max_timeout_ms(), 1_800_000);
    let unknown = IgnoredHook::Unknown("hook event `FromTomorrow`".to_owned());
    assert_eq!(config.ignored_entries(), [unknown]);
    assert!(HookConfig::parse_callbacks(&serde_json::Value::Null).is_ok());
}
