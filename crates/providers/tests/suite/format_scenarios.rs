//! The replies that every wire format must decode from the same scenario.

use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass_providers::catalog::provider_table::WireFormat;

pub(crate) const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// The stop string of the scenarios.
pub(crate) const STOP: &str = "\n---END---";

/// A reply without what only its own provider understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedReply {
    pub(crate) parts: Vec<ExpectedPart>,
    pub(crate) cut: Option<(String, String)>,
    pub(crate) stop_reason: StopReason,
    pub(crate) stop_sequence: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExpectedPart {
    Thought(String),
    Text(String),
    Call { id: String, name: String, input: String },
}

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) expected: ExpectedReply,
    /// The usage; `None` where a format cannot know it.
    pub(crate) usage: Option<TokenUsage>,
}

pub(crate) fn to_expected(reply: &ModelReply) -> ExpectedReply {
    let part = |block: &windlass_core::message::content_block::ContentBlock| {
        if let Some(call) = block.as_tool_use() {
            let (id, name) = (call.id.to_string(), call.name.to_string());
            return ExpectedPart::Call { id, name, input: call.input.text().to_owned() };
        }
        if let Some(text) = block.as_text() {
            return ExpectedPart::Text(text.to_owned());
        }
        let value: serde_json::Value = block.raw().read().unwrap();
        ExpectedPart::Thought(value["thinking"].as_str().unwrap().to_owned())
    };
    ExpectedReply {
        parts: reply.blocks.iter().map(part).collect(),
        cut: reply
            .truncated_block
            .as_ref()
            .map(|cut| (cut.name.to_string(), cut.partial.to_string())),
        stop_reason: reply.stop_reason.clone(),
        stop_sequence: reply.stop_sequence.as_ref().map(ToString::to_string),
    }
}

fn text(text: &str) -> ExpectedPart {
    ExpectedPart::Text(text.to_owned())
}

fn call(id: &str, name: &str, input: &str) -> ExpectedPart {
    ExpectedPart::Call { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() }
}

fn scenario(
    name: &'static str,
    parts: Vec<ExpectedPart>,
    stop_reason: StopReason,
    (input_tokens, cache_read_tokens, output_tokens): (u64, u64, u64),
) -> Scenario {
    let expected = ExpectedReply { parts, cut: None, stop_reason, stop_sequence: None };
    let usage =
        TokenUsage { input_tokens, output_tokens, cache_read_tokens, ..TokenUsage::default() };
    Scenario { name, expected, usage: Some(usage) }
}

fn with_cut(mut scenario: Scenario) -> Scenario {
    let partial = r#"{"file_path": "a.txt", "content": "half of"#;
    scenario.expected.cut = Some(("Write".to_owned(), partial.to_owned()));
    scenario
}

/// At the output limit a call without arguments may have lost them: it is a truncated call, not a
/// call of `{}`.
fn cut_before_its_arguments(mut scenario: Scenario) -> Scenario {
    scenario.expected.cut = Some(("List".to_owned(), String::new()));
    scenario
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let read_a = || call("call_a", "Read", r#"{"file_path": "a.txt"}"#);
    let read_b = || call("call_b", "Read", r#"{"file_path": "b.txt"}"#);
    let thought = ExpectedPart::Thought("Two files are named, so both are read.".to_owned());
    let writing = || vec![text("Writing it.")];
    let mut stopped =
        scenario("stop_string", vec![text("Done.")], StopReason::StopSequence, (20, 0, 4));
    stopped.expected.stop_sequence = Some(STOP.to_owned());
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

/// The recorded stream of a scenario.
pub(crate) fn cassette(format: WireFormat, name: &str) -> Vec<u8> {
    let format = match format {
        WireFormat::AnthropicMessages => "anthropic",
        WireFormat::OpenAiChat => "openai_chat",
        WireFormat::OpenAiResponses => "openai_responses",
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cassettes");
    std::fs::read(format!("{folder}/{format}_{name}.sse")).unwrap()
}
