//! The usage of a call: exact figures where the server reports them, an estimate where it does not,
//! and never less than that.

use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallNotice, CallOptions, RecordedCall, notices_in, replay_stream};
use windlass_runtime::ports::Model;

use crate::adapter::{prompt, remote, request};
use crate::byte_server::{ByteServer, streamed, whole};
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

/// A stream of a short text whose usage is this JSON.
fn stream(format: WireFormat, usage: &str) -> String {
    match format {
        WireFormat::AnthropicMessages => format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{usage}}}}}\n\n\
             data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
             data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"A short text.\"}}}}\n\n\
             data: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{usage}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        ),
        WireFormat::OpenAiChat => format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"A short text.\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
             data: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
        ),
        WireFormat::OpenAiResponses => format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[\
             {{\"type\":\"message\",\"content\":[{{\"type\":\"output_text\",\"text\":\"A short text.\"}}]}}],\
             \"usage\":{usage}}}}}\n\n"
        ),
    }
}

async fn answered(format: WireFormat, stream: String) -> (ModelReply, usize) {
    let server = ByteServer::start(move |_, _| streamed(stream.as_bytes())).await;
    let model = remote(format, &server.url, CallOptions::default());
    let reply = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
    let sent = server.asked()[0].body.len();
    (reply, sent)
}

/// OpenAI's formats count cached tokens, read or written, as part of the input: each is billed
/// once.
#[test]
fn tokens_written_to_the_cache_are_billed_once() {
    let cases = [
        (
            WireFormat::OpenAiChat,
            r#"{"prompt_tokens":1000,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":300,"cache_write_tokens":200}}"#,
        ),
        (
            WireFormat::OpenAiResponses,
            r#"{"input_tokens":1000,"output_tokens":50,"input_tokens_details":{"cached_tokens":300,"cache_write_tokens":200}}"#,
        ),
        (
            WireFormat::AnthropicMessages,
            r#"{"input_tokens":500,"output_tokens":50,"cache_read_input_tokens":300,"cache_creation_input_tokens":200}"#,
        ),
    ];
    for (format, usage) in cases {
        let stream = stream(format, usage);
        let reply = replay_stream(
            format,
            &RecordedCall::default(),
            [stream.as_bytes()],
            &*RecordingStream::new(),
        )
        .unwrap();
        let wanted = TokenUsage {
            input_tokens: 500,
            output_tokens: 50,
            cache_read_tokens: 300,
            cache_write_tokens: 200,
        };
        assert_eq!(reply.usage, wanted, "{format:?}");
        assert_eq!(notices_in(&reply), [], "{format:?}");
    }
}

/// A server that reports no usage, or an invalid one, is estimated by the bytes sent and received.
#[tokio::test]
async fn usage_that_cannot_be_is_estimated_and_never_lowers_the_count() {
    let absurd = [
        "-5",
        "\"many\"",
        "null",
        "1.5",
        "1e999",
        "18446744073709551616",
        "18446744073709551615",
        "0",
        "[]",
    ];
    for format in FORMATS {
        let (input, output) = match format {
            WireFormat::OpenAiChat => ("prompt_tokens", "completion_tokens"),
            WireFormat::AnthropicMessages | WireFormat::OpenAiResponses => {
                ("input_tokens", "output_tokens")
            }
        };
        let figures = |figure: &&str| format!("{{\"{input}\":{figure},\"{output}\":{figure}}}");
        let whole = ["{}", "null", "\"none\"", "[]", "7"].map(str::to_owned);
        for usage in absurd.iter().map(figures).chain(whole) {
            let (reply, sent) = answered(format, stream(format, &usage)).await;
            let TokenUsage { input_tokens, output_tokens, .. } = reply.usage;
            let near = sent as u64 / 4;
            assert!(
                input_tokens >= near && input_tokens <= near + 1,
                "{format:?} {usage}: {input_tokens}"
            );
            assert!((1..1_000).contains(&output_tokens), "{format:?} {usage}: {output_tokens}");
            assert_eq!(notices_in(&reply), [CallNotice::UsageEstimated], "{format:?} {usage}");
        }
    }
}

/// A later figure adds to an earlier one and never lowers it.
#[test]
fn a_later_figure_takes_nothing_back() {
    let text = String::from_utf8(cassette(WireFormat::AnthropicMessages, "text")).unwrap();
    let lowered = text.replace(
        "\"usage\":{\"output_tokens\":12}",
        "\"usage\":{\"input_tokens\":-1,\"output_tokens\":12,\"cache_read_input_tokens\":\"x\"}",
    );
    assert_ne!(text, lowered);
    let read = |stream: &str| {
        replay_stream(
            WireFormat::AnthropicMessages,
            &RecordedCall::default(),
            [stream.as_bytes()],
            &*RecordingStream::new(),
        )
        .unwrap()
        .usage
    };
    assert_eq!(read(&text), read(&lowered));
    let zero = text.replace(
        "\"usage\":{\"output_tokens\":12}",
        "\"usage\":{\"input_tokens\":0,\"output_tokens\":12}",
    );
    assert_eq!(read(&text), read(&zero));
}

/// The output limit and the end of the window are the same for a call whose arguments may be lost,
/// also in a response that was not streamed.
#[tokio::test]
async fn a_call_without_arguments_at_the_limit_is_cut_in_a_whole_answer_too() {
    let messages = r#"{"content":[{"type":"tool_use","id":"l","name":"List","input":{}}],"stop_reason":"LIMIT","usage":{"input_tokens":5,"output_tokens":5}}"#;
    let chat = r#"{"choices":[{"message":{"tool_calls":[{"id":"l","function":{"name":"List","arguments":""}}]},"finish_reason":"LIMIT"}],"usage":{"prompt_tokens":5,"completion_tokens":5}}"#;
    let responses = r#"{"status":"incomplete","incomplete_details":{"reason":"LIMIT"},"output":[{"type":"function_call","call_id":"l","name":"List","arguments":""}],"usage":{"input_tokens":5,"output_tokens":5}}"#;
    let cases = [
        (WireFormat::AnthropicMessages, messages, "max_tokens", StopReason::MaxTokens),
        (
            WireFormat::AnthropicMessages,
            messages,
            "model_context_window_exceeded",
            StopReason::ContextWindowExceeded,
        ),
        (WireFormat::OpenAiChat, chat, "length", StopReason::MaxTokens),
        (WireFormat::OpenAiChat, chat, "model_length", StopReason::ContextWindowExceeded),
        (WireFormat::OpenAiResponses, responses, "max_output_tokens", StopReason::MaxTokens),
    ];
    for (format, body, limit, stop_reason) in cases {
        let body = body.replace("LIMIT", limit);
        let head = "content-type: application/json\r\n";
        let server = ByteServer::start(move |_, _| whole("200 OK", head, &body)).await;
        let model = remote(format, &server.url, CallOptions::default());
        let recording = RecordingStream::new();
        let reply = model.call(request(prompt("go")), recording.clone()).await.unwrap();
        assert_eq!((reply.stop_reason.clone(), reply.blocks.len()), (stop_reason, 0), "{limit}");
        let TruncatedBlock { name, .. } = reply.truncated_block.unwrap();
        assert_eq!(&*name, "List", "{format:?} {limit}");
        assert!(recording.blocks.lock().unwrap().is_empty(), "nothing may be started early");
    }
}
