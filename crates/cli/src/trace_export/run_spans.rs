//! The spans of a run, from its timeline, with the attributes of the `gen_ai` conventions.

use std::collections::BTreeMap;

use windlass::core::message::raw_json::sha256_hex;
use windlass::messages::{RunTimeline, SpanKind, SpanStatus, TimelineSpan};

use super::span_encoding::{AttributeValue, ExportedKind, ExportedSpan, ExportedStatus};

/// What is known of a run beside its timeline.
#[derive(Debug, Clone, Default)]
pub(super) struct RunIdentity {
    /// The run at the root of the tree of sub-agents: all of it is one trace.
    pub(super) root_run: String,
    /// The span of the parent run that waits for this one.
    pub(super) parent_span: Option<[u8; 8]>,
    pub(super) run: String,
    pub(super) conversation: String,
    pub(super) agent: String,
    pub(super) model: String,
    /// The prompt and the answer, if content is wanted.
    pub(super) content: Option<(String, String)>,
}

/// The id of the trace of a run: the same in every process.
pub(super) fn trace_id(root_run: &str) -> [u8; 16] {
    derive_id(&format!("trace:{root_run}"))
}

/// The id of a span of a run: the same in every process.
pub(super) fn span_id(run: &str, span: &str) -> [u8; 8] {
    derive_id(&format!("span:{run}:{span}"))
}

fn derive_id<const BYTES: usize>(name: &str) -> [u8; BYTES] {
    let hex = sha256_hex(name.as_bytes());
    let mut id = [0; BYTES];
    for (at, byte) in id.iter_mut().enumerate() {
        let digits = hex.get(at * 2..at * 2 + 2).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    id
}

/// Makes the spans of a run: the run, its iterations, and what happened in each.
pub(super) fn spans_of_run(timeline: &RunTimeline, about: &RunIdentity) -> Vec<ExportedSpan> {
    let end = timeline.ended_at_ms.unwrap_or(timeline.started_at_ms);
    let mut spans = vec![run_span(timeline, about, end)];
    let iterations = iteration_times(timeline, end);
    for (iteration, (from, upto)) in &iterations {
        spans.push(ExportedSpan {
            id: span_id(&about.run, &format!("iteration {iteration}")),
            parent: Some(span_id(&about.run, "run")),
            name: format!("iteration {iteration}"),
            kind: ExportedKind::Internal,
            start_ms: *from,
            end_ms: *upto,
            attributes: vec![("windlass.iteration", u64::from(*iteration).into())],
            status: ExportedStatus::Unset,
        });
    }
    spans.extend(timeline.spans.iter().map(|span| inner_span(span, about, end)));
    spans
}

/// When each iteration began and ended.
fn iteration_times(timeline: &RunTimeline, end: u64) -> BTreeMap<u32, (u64, u64)> {
    let mut times: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for span in timeline.spans.iter().filter(|span| span.iteration > 0) {
        let (from, upto) = (span.started_at_ms, span.ended_at_ms.unwrap_or(end));
        let known = times.entry(span.iteration).or_insert((from, upto));
        *known = (known.0.min(from), known.1.max(upto));
    }
    times
}

fn run_span(timeline: &RunTimeline, about: &RunIdentity, end: u64) -> ExportedSpan {
    let total = |read: fn(&windlass::messages::SpanTokens) -> u64| -> u64 {
        timeline.spans.iter().filter_map(|span| span.tokens.as_ref()).map(read).sum()
    };
    let cause = timeline.cause.clone().unwrap_or_default();
    let mut attributes: Vec<(&'static str, AttributeValue)> = vec![
        ("gen_ai.operation.name", "invoke_agent".into()),
        ("gen_ai.agent.name", about.agent.as_str().into()),
        ("gen_ai.conversation.id", about.conversation.as_str().into()),
        ("gen_ai.request.model", about.model.as_str().into()),
        ("gen_ai.usage.input_tokens", total(|it| it.input + it.cache_read + it.cache_write).into()),
        ("gen_ai.usage.output_tokens", total(|it| it.output).into()),
        ("windlass.run.id", about.run.as_str().into()),
        ("windlass.stop_cause", cause.as_str().into()),
    ];
    if let Some((prompt, answer)) = &about.content {
        let message = |role: &str, text: &str| {
            serde_json::json!([{"role": role, "parts": [{"type": "text", "content": text}]}])
                .to_string()
        };
        attributes.push(("gen_ai.input.messages", message("user", prompt).into()));
        attributes.push(("gen_ai.output.messages", message("assistant", answer).into()));
    }
    let is_fine =
        ["end_turn", "stop_sequence", "soft_time", "refusal", "user_cancel", "tool_deferred"];
    let status = match is_fine.contains(&cause.as_str()) {
        true => ExportedStatus::Unset,
        false => {
            attributes.push(("error.type", cause.as_str().into()));
            ExportedStatus::Error(cause)
        }
    };
    ExportedSpan {
        id: span_id(&about.run, "run"),
        parent: about.parent_span,
        name: format!("invoke_agent {}", about.agent),
        kind: ExportedKind::Internal,
        start_ms: timeline.started_at_ms,
        end_ms: end,
        attributes,
        status,
    }
}

fn inner_span(span: &TimelineSpan, about: &RunIdentity, end: u64) -> ExportedSpan {
    let parent = match span.iteration {
        0 => span_id(&about.run, "run"),
        iteration => span_id(&about.run, &format!("iteration {iteration}")),
    };
    let (name, kind, mut attributes) = match span.kind {
        SpanKind::ModelCall => model_call(span, about),
        SpanKind::ToolCall => tool_call(span, about),
        SpanKind::ChildRun => {
            let operation = ("gen_ai.operation.name", "invoke_agent".into());
            (format!("sub-agent {}", span.name), ExportedKind::Internal, vec![operation])
        }
        SpanKind::RetryWait => ("retry_wait".to_owned(), ExportedKind::Internal, Vec::new()),
        SpanKind::Question => {
            (format!("question {}", span.name), ExportedKind::Internal, Vec::new())
        }
        SpanKind::Review => (format!("review {}", span.name), ExportedKind::Internal, Vec::new()),
        SpanKind::Compaction => {
            (format!("compaction {}", span.name), ExportedKind::Internal, Vec::new())
        }
        SpanKind::Takeover => ("takeover".to_owned(), ExportedKind::Internal, Vec::new()),
    };
    attributes.push(("windlass.entry", span.first_entry.into()));
    let status = match problem_of(span.status) {
        None => ExportedStatus::Unset,
        Some(problem) => {
            attributes.push(("error.type", problem.into()));
            // What went wrong may quote prompts and files.
            let said = about.content.as_ref().and(span.detail.clone());
            ExportedStatus::Error(said.unwrap_or_else(|| problem.to_owned()))
        }
    };
    ExportedSpan {
        id: span_id(&about.run, &span.id),
        parent: Some(parent),
        name,
        kind,
        start_ms: span.started_at_ms,
        end_ms: span.ended_at_ms.unwrap_or(end).max(span.started_at_ms),
        attributes,
        status,
    }
}

type NamedSpan = (String, ExportedKind, Vec<(&'static str, AttributeValue)>);

fn model_call(span: &TimelineSpan, about: &RunIdentity) -> NamedSpan {
    let mut attributes: Vec<(&'static str, AttributeValue)> = vec![
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.request.model", about.model.as_str().into()),
        ("gen_ai.conversation.id", about.conversation.as_str().into()),
        ("windlass.transition", span.name.as_str().into()),
    ];
    if let Some(tokens) = &span.tokens {
        let input = tokens.input + tokens.cache_read + tokens.cache_write;
        attributes.push(("gen_ai.usage.input_tokens", input.into()));
        attributes.push(("gen_ai.usage.output_tokens", tokens.output.into()));
        attributes.push(("gen_ai.usage.cache_read.input_tokens", tokens.cache_read.into()));
        attributes.push(("gen_ai.usage.cache_creation.input_tokens", tokens.cache_write.into()));
        let reasons = AttributeValue::Texts(span.detail.iter().cloned().collect());
        attributes.push(("gen_ai.response.finish_reasons", reasons));
    }
    (format!("chat {}", about.model), ExportedKind::Client, attributes)
}

fn tool_call(span: &TimelineSpan, about: &RunIdentity) -> NamedSpan {
    let mut attributes: Vec<(&'static str, AttributeValue)> = vec![
        ("gen_ai.operation.name", "execute_tool".into()),
        ("gen_ai.tool.name", span.name.as_str().into()),
        ("gen_ai.tool.call.id", span.id.as_str().into()),
    ];
    let mut kind = ExportedKind::Internal;
    if let Some((server, tool)) = mcp_names(&span.name) {
        kind = ExportedKind::Client;
        attributes.push(("gen_ai.tool.type", "extension".into()));
        attributes.push(("mcp.method.name", "tools/call".into()));
        attributes.push(("windlass.mcp.server", server.into()));
        attributes.push(("windlass.mcp.tool", tool.into()));
        attributes.push(("windlass.mcp", AttributeValue::Flag(true)));
    } else {
        attributes.push(("gen_ai.tool.type", "function".into()));
    }
    let arguments = span.detail.as_ref().filter(|_| span.status == SpanStatus::Ok);
    if let (Some(_), Some(arguments)) = (&about.content, arguments) {
        attributes.push(("gen_ai.tool.call.arguments", arguments.as_str().into()));
    }
    (format!("execute_tool {}", span.name), kind, attributes)
}

/// The server and the tool of a call to an MCP server.
fn mcp_names(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__")
}

fn problem_of(status: SpanStatus) -> Option<&'static str> {
    match status {
        SpanStatus::Open | SpanStatus::Ok => None,
        SpanStatus::Failed => Some("failed"),
        SpanStatus::Denied => Some("denied"),
        SpanStatus::Unknown => Some("unknown"),
        SpanStatus::Interrupted => Some("interrupted"),
    }
}
