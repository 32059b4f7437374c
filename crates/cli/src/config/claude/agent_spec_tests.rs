use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::Effort;

use super::{AgentSpec, MAX_AGENTS, parse_agents};

fn one(json: &str) -> Result<AgentSpec, String> {
    let text = format!("{{\"reviewer\": {json}}}");
    let agents = parse_agents(&text).map_err(|error| error.to_string())?;
    Ok(agents.into_iter().next().unwrap())
}

#[test]
fn a_definition_has_the_fields_that_programs_give() {
    let agent = one(r#"{"description": "Reviews", "prompt": "Review.", "tools": ["Read", "Grep"],
        "disallowedTools": ["Bash(rm:*)"], "model": "haiku", "effort": "high", "maxTurns": 3,
        "permissionMode": "plan", "mcpServers": ["x"], "skills": [], "memory": "user"}"#);
    let agent = agent.unwrap();
    assert_eq!((agent.name.as_str(), agent.prompt.as_str()), ("reviewer", "Review."));
    assert_eq!(agent.tools.unwrap(), ["Read", "Grep"]);
    assert_eq!(agent.disallowed, ["Bash(rm:*)"]);
    assert_eq!((agent.model.as_deref(), agent.effort), (Some("haiku"), Some(Effort::High)));
    assert_eq!((agent.max_turns, agent.permission_mode), (Some(3), Some(PermissionMode::Plan)));
}

#[test]
fn what_is_not_given_is_the_parents() {
    let agent = one(
        r#"{"description": "", "prompt": "x", "tools": "Read, *", "model": "inherit", "effort": 3}"#,
    );
    let agent = agent.unwrap();
    assert_eq!((agent.tools, agent.model, agent.effort), (None, None, None));
}

#[test]
fn a_wrong_definition_is_named() {
    let cases = [
        (r#"{"description": "x"}"#, "missing field `prompt`"),
        (r#"{"description": "x", "prompt": " "}"#, "`prompt` is empty"),
        (r#"{"description": "x", "prompt": "x", "tools": 1}"#, "must be a list of names"),
        (r#"{"description": "x", "prompt": "x", "effort": "vast"}"#, "unknown effort `vast`"),
        (r#"{"description": "x", "prompt": "x", "maxTurns": 0}"#, "`maxTurns` is 0"),
        (
            r#"{"description": "x", "prompt": "x", "permissionMode": "yolo"}"#,
            "unknown permission mode",
        ),
        (
            r#"{"description": "x", "prompt": "x", "disallowedTools": ["bash"]}"#,
            "did you mean `Bash`?",
        ),
        ("7", "invalid type"),
    ];
    for (json, reason) in cases {
        let error = one(json).unwrap_err();
        assert!(error.contains("the agent `reviewer`") && error.contains(reason), "{error}");
    }
    assert!(parse_agents("[]").unwrap_err().to_string().contains("must be a JSON object"));
    assert!(parse_agents("{").unwrap_err().to_string().contains("not valid JSON"));
    let spaced = parse_agents(r#"{"a b": {"description": "x", "prompt": "x"}}"#).unwrap_err();
    assert!(spaced.to_string().contains("letters, digits"), "{spaced}");
}

#[test]
fn the_number_of_agents_is_bounded() {
    let agent = |n| format!("\"a{n}\": {{\"description\": \"x\", \"prompt\": \"x\"}}");
    let text = |count| format!("{{{}}}", (0..count).map(agent).collect::<Vec<_>>().join(","));
    assert_eq!(parse_agents(&text(MAX_AGENTS)).unwrap().len(), MAX_AGENTS);
    assert!(parse_agents(&text(MAX_AGENTS + 1)).unwrap_err().to_string().contains("limit is 100"));
}
