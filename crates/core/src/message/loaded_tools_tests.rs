use std::sync::Arc;

use super::{LoadedTools, TOOL_SEARCH, ToolLoading, referenced_tools, references_to};
use crate::message::raw_json::RawJson;
use crate::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};

fn tool(name: &str, description_bytes: usize) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from("d".repeat(description_bytes)),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    }
}

/// A window of 10,000 tokens: with ten percent, 4,000 bytes of schemas fit.
fn settings(description_bytes: usize) -> Settings {
    let model = ModelSpec { window_tokens: 10_000, ..ModelSpec::with_defaults("test") };
    let mut settings = Settings::new(model);
    settings.tools = vec![
        tool("Read", 10),
        tool(TOOL_SEARCH, 10),
        tool("mcp__shop__buy", description_bytes),
        tool("mcp__shop__sell", description_bytes),
    ];
    settings
}

fn offered(settings: &Settings, loaded: &LoadedTools, loading: ToolLoading) -> Vec<String> {
    let tools = settings.offered_tools(loaded, loading, None);
    let name = |tool: &super::OfferedTool<'_>| {
        let mark = if tool.is_deferred { "?" } else { "" };
        format!("{}{mark}", tool.spec.name)
    };
    tools.iter().map(name).collect()
}

fn loaded(names: &[&str]) -> LoadedTools {
    let mut loaded = LoadedTools::default();
    names.iter().for_each(|name| loaded.add(Arc::from(*name)));
    loaded
}

#[test]
fn few_tools_are_offered_at_once_and_need_no_search() {
    let tools = offered(&settings(100), &LoadedTools::default(), ToolLoading::ByRequest);
    assert_eq!(tools, ["Read", "mcp__shop__buy", "mcp__shop__sell"]);
}

// spec: TOOLS-03
#[test]
fn tools_that_take_more_than_their_share_are_left_out_until_they_are_loaded() {
    let settings = settings(3_000);
    let by_request = |names: &[&str]| offered(&settings, &loaded(names), ToolLoading::ByRequest);
    assert_eq!(by_request(&[]), ["Read", TOOL_SEARCH]);
    // In the order in which they were loaded: the prompt only grows at its end.
    assert_eq!(
        by_request(&["mcp__shop__sell", "mcp__shop__buy", "mcp__gone__tool"]),
        ["Read", TOOL_SEARCH, "mcp__shop__sell", "mcp__shop__buy"]
    );
}

#[test]
fn a_provider_that_loads_by_reference_gets_every_tool_and_the_same_list_after_a_search() {
    let settings = settings(3_000);
    let before = offered(&settings, &LoadedTools::default(), ToolLoading::ByReference);
    assert_eq!(before, ["Read", TOOL_SEARCH, "mcp__shop__buy?", "mcp__shop__sell?"]);
    let after = offered(&settings, &loaded(&["mcp__shop__sell"]), ToolLoading::ByReference);
    assert_eq!(after, before);
}

#[test]
fn a_loaded_tool_stays_when_its_reference_is_summarised_away() {
    let settings = settings(3_000);
    let mut loaded = loaded(&["mcp__shop__sell"]);
    loaded.forget_references();
    let tools = offered(&settings, &loaded, ToolLoading::ByReference);
    assert_eq!(tools, ["Read", TOOL_SEARCH, "mcp__shop__sell", "mcp__shop__buy?"]);
}

#[test]
fn the_share_of_the_window_decides_and_without_the_search_nothing_is_deferred() {
    let with = |percent: u8, bytes: usize| {
        let mut settings = settings(bytes);
        settings.limits.tool_schema_percent = percent;
        settings.defers_tools()
    };
    assert!(with(0, 1));
    assert!(!with(100, 1_000_000));
    assert!(!with(20, 3_000));
    let mut without = settings(3_000);
    without.tools.retain(|tool| &*tool.name != TOOL_SEARCH);
    assert!(!without.defers_tools());
    assert_eq!(offered(&without, &LoadedTools::default(), ToolLoading::ByReference).len(), 3);
}

#[test]
fn a_tool_that_must_be_called_is_offered() {
    let settings = settings(3_000);
    let required = Some("mcp__shop__buy");
    let tools = settings.offered_tools(&LoadedTools::default(), ToolLoading::ByRequest, required);
    assert!(tools.iter().any(|tool| &*tool.spec.name == "mcp__shop__buy"));
}

#[test]
fn the_search_lists_what_it_can_load() {
    let settings = settings(3_000);
    let tools = settings.offered_tools(&LoadedTools::default(), ToolLoading::ByRequest, None);
    let search = tools.iter().find(|tool| &*tool.spec.name == TOOL_SEARCH).unwrap();
    assert!(
        search.spec.description.ends_with("\n- shop: buy, sell"),
        "{}",
        search.spec.description
    );
}

#[test]
fn references_are_read_as_they_are_written_and_anything_else_refers_to_nothing() {
    let content = references_to(["mcp__shop__buy"]);
    assert_eq!(content.text(), r#"[{"type":"tool_reference","tool_name":"mcp__shop__buy"}]"#);
    assert_eq!(referenced_tools(&content), [Arc::from("mcp__shop__buy")]);
    for other in [r#""mcp__shop__buy""#, r#"[{"type":"text","text":"x"}]"#, "{}", "[1]", "[[]]"] {
        assert_eq!(referenced_tools(&RawJson::parse(other).unwrap()), [], "{other}");
    }
}
