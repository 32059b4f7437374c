//! What every wire format must make of the same story.

use windlass_core::reply::{Reply, StopReason, Usage};
use windlass_providers::names::Format;

pub(crate) const FORMATS: [Format; 3] =
    [Format::AnthropicMessages, Format::OpenAiChat, Format::OpenAiResponses];

/// The stop string of the stories.
pub(crate) const STOP: &str = "\n---END---";

/// A reply without what only its own provider understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) parts: Vec<Part>,
    pub(crate) cut: Option<(String, String)>,
    pub(crate) stop_reason: StopReason,
    pub(crate) stop_sequence: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Thought(String),
    Text(String),
    Call { id: String, name: String, input: String },
}

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) told: Told,
    /// Nothing where a format cannot know.
    pub(crate) usage: Option<Usage>,
}

pub(crate) fn told(reply: &Reply) -> Told {
    let part = |block: &windlass_core::block::Block| {
        if let Some(call) = block.as_tool_use() {
            let (id, name) = (call.id.to_string(), call.name.to_string());
            return Part::Call { id, name, input: call.input.text().to_owned() };
        }
        if let Some(text) = block.as_text() {
            return Part::Text(text.to_owned());
        }
        let value: serde_json::Value = block.raw().read().unwrap();
        Part::Thought(value["thinking"].as_str().unwrap().to_owned())
    };
    Told {
        parts: reply.blocks.iter().map(part).collect(),
        cut: reply.cut.as_ref().map(|cut| (cut.name.to_string(), cut.partial.to_string())),
        stop_reason: reply.stop_reason.clone(),
        stop_sequence: reply.stop_sequence.as_ref().map(ToString::to_string),
    }
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn call(id: &str, name: &str, input: &str) -> Part {
    Part::Call { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() }
}

fn scenario(
    name: &'static str,
    parts: Vec<Part>,
    stop_reason: StopReason,
    (input_tokens, cache_read_tokens, output_tokens): (u64, u64, u64),
) -> Scenario {
    let told = Told { parts, cut: None, stop_reason, stop_sequence: None };
    let usage = Usage { input_tokens, output_tokens, cache_read_tokens, ..Usage::default() };
    Scenario { name, told, usage: Some(usage) }
}

fn with_cut(mut scenario: Scenario) -> Scenario {
    let partial = r#"{"file_path": "a.txt", "content": "half of"#;
    scenario.told.cut = Some(("Write".to_owned(), partial.to_owned()));
    scenario
}

/// At the output limit a call without arguments may have lost them: it is cut, not a call of `{}`.
fn cut_before_its_arguments(mut scenario: Scenario) -> Scenario {
    scenario.told.cut = Some(("List".to_owned(), String::new()));
    scenario
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let read_a = || call("call_a", "Read", r#"{"file_path": "a.txt"}"#);
    let read_b = || call("call_b", "Read", r#"{"file_path": "b.txt"}"#);
    let thought = Part::Thought("Two files are named, so both are read.".to_owned());
    let writing = || vec![text("Writing it.")];
    let mut stopped =
        scenario("stop_string", vec![text("Done.")], StopReason::StopSequence, (20, 0, 4));
    stopped.told.stop_sequence = Some(STOP.to_owned());
    stopped.usage = None;
    vec![
        scenario(
            "calls",
            vec![thought, text("I will read both files."), read_a(), read_b()],
            StopReason::ToolUse,
            (120, 80, 45),
        ),
        scenario(
            "text",
            vec![text("Grüße, 世界 😀\nZwei Zeilen \"und\" \\ mehr.")],
            StopReason::EndTurn,
            (30, 0, 12),
        ),
        with_cut(scenario("cut_call", writing(), StopReason::MaxTokens, (50, 0, 16))),
        with_cut(scenario("cut_but_fine", writing(), StopReason::ToolUse, (50, 0, 16))),
        with_cut(scenario("cut_second", vec![read_a()], StopReason::MaxTokens, (50, 0, 16))),
        cut_before_its_arguments(scenario("cut_empty", vec![], StopReason::MaxTokens, (20, 0, 4))),
        scenario("cut_text", vec![text("Once upon a")], StopReason::MaxTokens, (20, 0, 4)),
        stopped,
        scenario(
            "no_arguments",
            vec![call("call_l", "List", "{}")],
            StopReason::ToolUse,
            (20, 0, 4),
        ),
        scenario("refusal", vec![text("I would rather not.")], StopReason::Refusal, (20, 0, 5)),
    ]
}

/// The recorded stream of a story.
pub(crate) fn cassette(format: Format, name: &str) -> Vec<u8> {
    let format = match format {
        Format::AnthropicMessages => "anthropic",
        Format::OpenAiChat => "openai_chat",
        Format::OpenAiResponses => "openai_responses",
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cassettes");
    std::fs::read(format!("{folder}/{format}_{name}.sse")).unwrap()
}
