use clap::Parser;

use serde_json::json;

use super::*;
use crate::args::CliArgs;

fn parse(fields: &Value) -> InitializeRequest {
    let Value::Object(fields) = fields.clone() else { panic!("{fields}") };
    InitializeRequest::parse(&ControlRequest {
        id: "r".to_owned(),
        subtype: "initialize".to_owned(),
        fields,
    })
}

fn arguments(words: &[&str]) -> PrintArgs {
    CliArgs::try_parse_from(["windlass", "--print"].iter().chain(words)).unwrap().print
}

#[test]
fn an_unset_prompt_of_the_typescript_sdk_is_no_prompt() {
    let mut print = arguments(&[]);
    parse(&json!({"systemPrompt": [""]})).apply_to(&mut print);
    assert_eq!(print.agent.prompt.system_prompt.as_deref(), Some(""));
}

#[test]
fn the_preset_keeps_the_built_in_prompt() {
    let mut print = arguments(&[]);
    parse(&json!({"appendSystemPrompt": "Be brief."})).apply_to(&mut print);
    assert_eq!(print.agent.prompt.system_prompt, None);
    assert_eq!(print.agent.prompt.append_system_prompt.as_deref(), Some("Be brief."));
}

#[test]
fn a_request_of_nulls_changes_nothing() {
    let mut print = arguments(&["--system-prompt", "as given"]);
    let request = parse(&json!({
        "subtype": "initialize", "hooks": null, "agents": null, "systemPrompt": null,
        "jsonSchema": null, "sdkMcpServers": null, "skills": null, "fromTomorrow": {"a": 1},
    }));
    request.apply_to(&mut print);
    assert_eq!(request, InitializeRequest::default());
    assert_eq!(print.agent.prompt.system_prompt.as_deref(), Some("as given"));
}

/// Python names its servers on the command line, TypeScript in the request.
#[test]
fn servers_of_the_program_are_named_here_or_there() {
    let config = r#"{"mcpServers": {"calc": {"type": "sdk", "name": "calc"},
                     "files": {"command": "files"}}}"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    std::fs::write(&file, r#"{"mcpServers": {"notes": {"command": "notes"}}}"#).unwrap();
    let print = arguments(&["--mcp-config", config, "--mcp-config", file.to_str().unwrap()]);
    assert_eq!(parse(&json!({})).sdk_servers(&print).unwrap(), ["calc"]);
    let both = parse(&json!({"sdkMcpServers": ["weather", "calc"]}));
    assert_eq!(both.sdk_servers(&print).unwrap(), ["weather", "calc"]);
}
