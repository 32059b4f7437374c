//! Valid inputs of the delegation tools, and the errors about invalid ones.

use windlass_core::call::call_facts::{AnsweredBy, CallFacts};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::Effort;
use windlass_runtime::ports::Tool;

use super::{AgentTool, SpawnChildRunsTool};

fn assess_input(tool: &impl Tool, input: &str) -> CallFacts {
    tool.assess(&RawJson::parse(input).unwrap())
}

fn validation_message(tool: &impl Tool, input: &str) -> String {
    assess_input(tool, input).problem.expect("it must not run").message.to_string()
}

#[test]
fn a_task_goes_to_the_agent_it_names() {
    let tool = AgentTool::default().with("reviewer", "reads changes");
    let input = r#"{"description":"look","prompt":"look at it","subagent_type":"reviewer"}"#;
    let facts = assess_input(&tool, input);
    assert_eq!(facts.answered_by, AnsweredBy::Children);
    assert_eq!(&*facts.children[0].agent, "reviewer");
    assert_eq!(&*facts.children[0].prompt, "look at it");
    assert_eq!(facts.children[0].effort, None);
    let hard = r#"{"description":"look","prompt":"look at it","effort":"high"}"#;
    assert_eq!(assess_input(&tool, hard).children[0].effort, Some(Effort::High));
    assert!(tool.spec().description.contains("- reviewer: reads changes"));
}

#[test]
fn without_a_name_it_is_one_like_the_parent() {
    for input in [
        r#"{"description":"d","prompt":"p"}"#,
        r#"{"description":"d","prompt":"p","subagent_type":"general-purpose"}"#,
    ] {
        assert_eq!(&*assess_input(&AgentTool::default(), input).children[0].agent, "");
    }
}

#[test]
fn what_cannot_be_a_task_is_told_in_one_sentence() {
    let tool = AgentTool::default().with("reviewer", "reads changes");
    let unknown = r#"{"description":"d","prompt":"p","subagent_type":"poet"}"#;
    assert!(validation_message(&tool, unknown).contains("available: general-purpose, reviewer"));
    assert!(validation_message(&tool, r#"{"description":"d","prompt":"  "}"#).contains("empty"));
    let effort = r#"{"description":"d","prompt":"p","effort":"huge"}"#;
    assert!(validation_message(&tool, effort).contains("use low, medium, high, xhigh or max"));
    // The model of an agent is set in its definition.
    let model = r#"{"description":"d","prompt":"p","model":"opus"}"#;
    assert!(validation_message(&tool, model).contains("model"));
    assert!(!tool.spec().input_schema.text().contains("\"model\""));
    // Without anyone who waits for the answer.
    let background = r#"{"description":"d","prompt":"p","run_in_background":true}"#;
    assert!(validation_message(&tool, background).contains("background"));
    assert!(validation_message(&tool, r#"{"prompt":"p","poems":1}"#).contains("poems"));
}

#[test]
fn a_task_works_in_the_background_if_the_call_or_the_agent_says_so() {
    let tool = AgentTool::default().with("walker", "walks").with("sitter", "sits");
    let tool = tool.in_background("walker");
    let is_background = |tool: &AgentTool, more: &str| {
        let input = format!(r#"{{"description":"d","prompt":"p"{more}}}"#);
        assess_input(tool, &input).children_in_background
    };
    assert!(!is_background(&tool, r#","subagent_type":"walker""#), "it is not allowed here");
    let tool = tool.with_background();
    assert!(is_background(&tool, r#","subagent_type":"walker""#));
    assert!(!is_background(&tool, r#","subagent_type":"walker","run_in_background":false"#));
    assert!(!is_background(&tool, r#","subagent_type":"sitter""#));
    assert!(is_background(&tool, r#","run_in_background":true"#));
}

// spec: CHILDREN-01
#[test]
fn several_tasks_are_handed_out_at_once_but_not_too_many() {
    let tool = SpawnChildRunsTool::default();
    let input = r#"{"tasks":[{"prompt":"a"},{"prompt":"b"}]}"#;
    let prompts: Vec<String> =
        assess_input(&tool, input).children.iter().map(|task| task.prompt.to_string()).collect();
    assert_eq!(prompts, ["a", "b"]);
    let five = format!(r#"{{"tasks":[{}]}}"#, [r#"{"prompt":"x"}"#; 5].join(","));
    assert!(validation_message(&tool, &five).contains("between 1 and 4"));
    assert!(validation_message(&tool, r#"{"tasks":[]}"#).contains("between 1 and 4"));
}
