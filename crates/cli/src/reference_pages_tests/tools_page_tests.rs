//! `docs/tools.md` against the built-in tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use windlass::ToolRegistry;
use windlass::core::call::call_facts::{AnsweredBy, CallFacts, ProbeSupport, Repeatability};
use windlass::core::message::raw_json::RawJson;
use windlass::core::permission::{
    CallEffect, HookPreference, PermissionQuery, Permissions, RuleDecision,
};
use windlass::tools::{
    AgentTool, ExitPlanModeTool, JournalTool, SkillSummary, SkillTool, SpawnChildRunsTool,
    StructuredOutput, ToolContext, ToolSearchTool, standard_tools,
};

use super::{PageSection, find_section, quoted_names, read_page};
use crate::config::web_tools::WebConfig;
use crate::toolset;

/// Every tool that the command line can offer.
fn all_tools() -> ToolRegistry {
    let tools = standard_tools(&ToolContext::new(env!("CARGO_MANIFEST_DIR").as_ref()))
        .with(AgentTool::default())
        .with(SpawnChildRunsTool::default())
        .with(ExitPlanModeTool)
        .with(StructuredOutput::of_any_object())
        .with(release_skill())
        .with(ToolSearchTool)
        .merge(web_tools());
    JournalTool::all().into_iter().fold(tools, ToolRegistry::with)
}

/// The tool for one skill.
fn release_skill() -> SkillTool {
    let (name, description) = ("release".to_owned(), "makes a release".to_owned());
    let load = |_: &str, _: &str| Err("nothing is loaded here".to_owned());
    SkillTool::new(vec![SkillSummary { name, description }], Arc::new(load))
}

/// The tools for the web, with a search engine.
fn web_tools() -> ToolRegistry {
    let config: WebConfig =
        toml::from_str("search = \"searxng\"\nsearch_url = \"http://localhost\"").unwrap();
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(windlass::SystemClock::start());
    config.registry(&clock, |_| true).unwrap()
}

/// The section of each tool: its heading is the name.
fn tool_sections(page: &[PageSection]) -> Vec<(String, &PageSection)> {
    let name = |section: &PageSection| quoted_names(&section.heading).into_iter().next();
    page.iter().filter_map(|section| Some((name(section)?, section))).collect()
}

#[test]
fn the_page_has_every_tool_and_no_other() {
    let page = read_page("tools.md");
    let existing: BTreeSet<String> =
        all_tools().specs().iter().map(|spec| spec.name.to_string()).collect();
    let described: BTreeSet<String> =
        tool_sections(&page).into_iter().map(|(name, _)| name).collect();
    assert_eq!(described, existing);
    let overview = find_section(&page, "Overview");
    let listed: BTreeSet<String> =
        overview.rows.iter().flat_map(|row| quoted_names(&row[0])).collect();
    assert_eq!(listed, existing);
    for name in toolset::all_tool_names().filter(|name| *name != "Journal") {
        assert!(existing.contains(name), "{name} is a name for rules");
    }
}

#[test]
fn arguments_are_those_of_the_schemas() {
    let (page, tools) = (read_page("tools.md"), all_tools());
    for (name, section) in tool_sections(&page) {
        let schema: Value = tools.get(&name).unwrap().spec().input_schema.read().unwrap();
        let no_properties = Value::Object(serde_json::Map::new());
        let properties = schema.get("properties").unwrap_or(&no_properties);
        let existing: BTreeSet<String> = properties.as_object().unwrap().keys().cloned().collect();
        assert_eq!(section.names(), existing, "{name}");
        for row in &section.rows {
            let argument = quoted_names(&row[0]).remove(0);
            let required = schema["required"]
                .as_array()
                .is_some_and(|all| all.contains(&Value::from(&*argument)));
            assert_eq!(row[2] == "yes", required, "{name}: {argument}");
            let types = schema_types(&properties[&argument], &schema);
            assert!(types.contains(&row[1]), "{name}: {argument} has the types {types:?}");
        }
    }
}

/// The types that a property may have, `null` among them.
fn schema_types(property: &Value, schema: &Value) -> Vec<String> {
    if let Some(target) = property["$ref"].as_str() {
        let target = schema.pointer(target.trim_start_matches('#')).unwrap();
        return schema_types(target, schema);
    }
    if let Some(any) = property["anyOf"].as_array() {
        return any.iter().flat_map(|one| schema_types(one, schema)).collect();
    }
    match &property["type"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ if property["enum"].is_array() || property["oneOf"].is_array() => {
            vec!["string".to_owned()]
        }
        _ => Vec::new(),
    }
}

#[test]
fn permissions_and_recovery_are_those_of_the_example() {
    let (page, tools) = (read_page("tools.md"), all_tools());
    let overview = find_section(&page, "Overview");
    for (name, section) in tool_sections(&page) {
        let example = RawJson::parse(section.examples[0].trim()).unwrap();
        let facts = tools.assess(&"conversation:1".into(), &name, &example);
        assert!(facts.problem.is_none(), "{name}: {:?}", facts.problem);
        let of_tool = |row: &&Vec<String>| quoted_names(&row[0]).first() == Some(&name);
        let row = overview.rows.iter().find(of_tool).unwrap();
        assert_eq!(row[2], permission_without_rule(&name, &facts), "{name}");
        assert_eq!(row[3], recovery(&facts), "{name}");
    }
}

fn permission_without_rule(tool: &str, facts: &CallFacts) -> &'static str {
    let runtime_answers = !matches!(facts.answered_by, AnsweredBy::Tool);
    let effect = if runtime_answers || facts.is_read_only() {
        CallEffect::ReadOnly
    } else {
        CallEffect::MayChange
    };
    let (subject, preference, grants) = (&facts.subject, HookPreference::Neutral, &[]);
    let query = PermissionQuery { tool, subject, effect, preference, grants };
    match Permissions::default().evaluate_rules(query) {
        RuleDecision::Allow(_) => "runs",
        RuleDecision::Undecided | RuleDecision::Ask(_) => "needs approval",
        RuleDecision::Deny(..) => "is denied",
    }
}

fn recovery(facts: &CallFacts) -> &'static str {
    match (facts.answered_by, facts.probe, facts.repeat) {
        (AnsweredBy::Human | AnsweredBy::PlanApproval, ..) => "asks again",
        (AnsweredBy::Journal | AnsweredBy::Children, ..) => "continues",
        (AnsweredBy::Tool, ProbeSupport::Supported, _) => "is checked",
        (AnsweredBy::Tool, _, Repeatability::Repeatable) => "runs again",
        (AnsweredBy::Tool, _, Repeatability::OnceOnly) => "a person is asked",
    }
}
