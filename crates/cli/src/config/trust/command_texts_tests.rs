//! Which variables and settings may name a program.

use serde_json::{Value, json};

use super::command_texts;

fn texts(hooks: Value, env: Value, servers: &Value, settings: Value) -> String {
    json!(command_texts((&[hooks], &[env]), servers, &[settings])).to_string()
}

#[test]
fn a_variable_counts_if_programs_run_what_it_names_or_a_command_uses_it() {
    let env = json!({
        "APP_CONFIG": "data-1", "NOTES": "data-2", "PATHS": "data-3",
        "BASH_ENV": "code-1", "GIT_SSH_COMMAND": "code-2", "NODE_OPTIONS": "code-3",
        "npm_config_script_shell": "code-4", "LINTER": "code-5", "TOOL": "code-6",
    });
    let hooks = json!({"Stop": [{"hooks": [{"command": "sh \"$LINTER\" && ${TOOL:-x}"}]}]});
    let found = texts(hooks, env, &Value::Null, Value::Null);
    for code in 1..=6 {
        assert!(found.contains(&format!("code-{code}")), "{found}");
    }
    assert!(!found.contains("data-"), "{found}");
}

#[test]
fn the_variables_of_a_server_are_judged_in_the_same_way() {
    let servers = json!({"mcpServers": {"x": {
        "command": "sh", "args": ["code-1", "$MAIN"],
        "env": {"DB": "data-1", "MAIN": "code-2", "PYTHONPATH": "code-3"},
    }}});
    let found = texts(Value::Null, Value::Null, &servers, Value::Null);
    assert!((1..=3).all(|code| found.contains(&format!("code-{code}"))), "{found}");
    assert!(!found.contains("data-"), "{found}");
}

#[test]
fn only_texts_that_are_known_to_be_no_commands_are_left_out() {
    let hooks = json!({"Stop": [{"matcher": "data-1", "hooks": [
        {"type": "command", "command": "code-1", "statusMessage": "data-2"},
        {"type": "prompt", "prompt": "data-3"},
    ]}]});
    let settings = json!({
        "companyAnnouncements": ["data-4"], "model": "data-5",
        "apiKeyHelper": "code-2", "statusLine": {"command": "code-3"}, "unheardOf": "code-4",
    });
    let found = texts(hooks, Value::Null, &Value::Null, settings);
    assert!((1..=4).all(|code| found.contains(&format!("code-{code}"))), "{found}");
    assert!(!found.contains("data-"), "{found}");
}
