use std::sync::Arc;

use windlass_core::message::loaded_tools::TOOL_SEARCH;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};

use super::{ToolSearchInput, find_tools};
use crate::tool_definition::tool_input;

fn tool(name: &str, description: &str, argument: &str) -> ToolSpec {
    let schema = format!(
        r#"{{"type":"object","properties":{{"{argument}":{{"type":"string","description":"the {argument}"}}}}}}"#
    );
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: RawJson::parse(schema).unwrap(),
    }
}

fn settings() -> Settings {
    let mut settings = Settings::new(ModelSpec::with_defaults("test"));
    settings.limits.tool_schema_percent = 0;
    settings.tools = vec![
        tool("Read", "reads an issue", "file"),
        tool(TOOL_SEARCH, "", "query"),
        tool("mcp__github__create_issue", "opens a ticket", "title"),
        tool("mcp__github__listPulls", "shows requests, with the issue of each", "state"),
        tool("mcp__mail__send", "sends a letter", "recipient"),
        tool("mcp__post__send", "sends a parcel", "weight"),
    ];
    settings
}

fn search(query: &str) -> Vec<String> {
    let input = RawJson::encode(&serde_json::json!({"query": query}));
    let asked = tool_input::read_input::<ToolSearchInput>(&input);
    let found = asked.and_then(|asked| find_tools(&settings(), &asked)).unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

// spec: TOOLS-03
#[test]
fn tools_are_found_by_name_description_and_arguments_the_best_first() {
    assert_eq!(search("issue"), ["mcp__github__create_issue", "mcp__github__listPulls"]);
    assert_eq!(search("PULLS"), ["mcp__github__listPulls"], "a part of a name in camel case");
    assert_eq!(search("letter"), ["mcp__mail__send"]);
    assert_eq!(search("recipient"), ["mcp__mail__send"]);
    assert_eq!(search("nothing like this"), Vec::<String>::new());
}

#[test]
fn a_required_word_excludes_tools_without_it() {
    assert_eq!(search("send"), ["mcp__mail__send", "mcp__post__send"]);
    assert_eq!(search("+post send"), ["mcp__post__send"]);
    assert_eq!(search("+nowhere send"), Vec::<String>::new());
}

#[test]
fn named_tools_are_loaded_by_either_name_unless_it_means_two() {
    assert_eq!(
        search("select:mcp__mail__send, create_issue"),
        ["mcp__mail__send", "mcp__github__create_issue"]
    );
    assert_eq!(search("select:send"), Vec::<String>::new());
    assert_eq!(search("select:Read"), Vec::<String>::new(), "it is offered already");
}

#[test]
fn an_empty_or_huge_query_is_refused() {
    for query in ["", "  ", &"x".repeat(2_001)] {
        let input = RawJson::encode(&serde_json::json!({"query": query}));
        assert!(tool_input::read_input::<ToolSearchInput>(&input).is_err());
    }
}
