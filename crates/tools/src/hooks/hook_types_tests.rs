//! Hooks that are web services or questions to a model: their configuration and their answers.

use serde_json::json;

use super::config::{HookConfig, HookEvent, IgnoredHook};
use super::prompt_hook::{parse_answer, question};
use super::response::HookOutput;

fn parse(hook: &str) -> Result<HookConfig, String> {
    let text = format!(r#"{{"PreToolUse": [{{"hooks": [{hook}]}}]}}"#);
    HookConfig::parse(&text).map_err(|error| error.to_string())
}

#[test]
fn a_web_service_names_its_variables() {
    let headers = r#""headers": {"Authorization": "Bearer ${TOKEN}", "x-cost": "5$"}"#;
    let with = |more: &str| {
        parse(&format!(r#"{{"type": "http", "url": "http://localhost:1/x", {headers}{more}}}"#))
    };
    assert!(with(r#", "allowedEnvVars": ["TOKEN"]"#).is_ok());
    let error = with("").unwrap_err();
    assert!(error.contains("add TOKEN to `allowedEnvVars`"), "{error}");
}

#[test]
fn a_hook_that_cannot_work_is_an_error() {
    for (hook, expected) in [
        (r#"{"type": "http", "url": "file:///etc/passwd"}"#, "http or https"),
        (r#"{"type": "http", "url": "http://a b"}"#, "http or https"),
        (r#"{"type": "http"}"#, "no `url`"),
        (r#"{"type": "prompt", "prompt": " "}"#, "`prompt` of a hook is empty"),
        (r#"{"type": "command", "url": "http://x", "comand": "y"}"#, "did you mean `command`"),
        (r#"{"type": "htpp", "url": "http://x"}"#, "did you mean `http`"),
        (r#"{"type": "command", "command": "x", "async": "yes"}"#, "boolean"),
    ] {
        let error = parse(hook).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let strict = r#"{"PreToolUse": [{"onFailure": "block", "hooks": [
        {"type": "command", "command": "x", "async": true}]}]}"#;
    let error = HookConfig::parse(strict).unwrap_err().to_string();
    assert!(error.contains("cannot block"), "{error}");
}

#[test]
fn a_model_is_not_asked_at_the_end_of_a_session() {
    let text = r#"{"SessionEnd": [{"hooks": [{"type": "prompt", "prompt": "?"}]}]}"#;
    let config = HookConfig::parse(text).unwrap();
    let ignored = IgnoredHook::Unsupported("type `prompt` of SessionEnd".to_owned());
    assert_eq!(config.ignored_entries(), [ignored]);
    let prompt = parse(r#"{"type": "prompt", "prompt": "?"}"#).unwrap();
    let (_, hook) = prompt.matching_hooks(HookEvent::PreToolUse, "Bash").next().unwrap();
    assert_eq!(hook.timeout_ms, 30_000);
}

#[test]
fn the_event_is_part_of_the_question() {
    let event = json!({"tool_name": "Bash"});
    assert_eq!(question("Is $ARGUMENTS safe?", &event).1, r#"Is {"tool_name":"Bash"} safe?"#);
    assert!(question("Is it safe?", &event).1.ends_with("{\"tool_name\":\"Bash\"}"));
}

#[test]
fn only_one_clear_decision_counts() {
    assert_eq!(parse_answer(r#"{"ok": true}"#), Ok(HookOutput::default()));
    let fenced = "```json\n{\"ok\": false, \"reason\": \"no tests\"}\n```";
    assert_eq!(parse_answer(fenced), Ok(HookOutput::deny("no tests")));
    for unclear in ["yes", "", "}{", r#"{"ok": "true"}"#, r#"{"ok": true} {"ok": false}"#] {
        assert!(parse_answer(unclear).is_err(), "{unclear}");
    }
}
