//! What a call used: exact figures where the server gives them, an estimate where it does not, and
//! never less than that.

use windlass_core::reply::{CutBlock, Reply, StopReason, Usage};
use windlass_providers::names::Format;
use windlass_providers::{Notice, Options, Recorded, notices, replay};
use windlass_runtime::ports::Model;

use crate::adapter::{prompt, remote, request};
use crate::heard::Heard;
use crate::scenarios::{FORMATS, cassette};
use crate::server::{Server, streamed, whole};

/// A stream of a short text whose usage is this JSON.
fn stream(format: Format, usage: &str) -> String {
    match format {
        Format::AnthropicMessages => format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{usage}}}}}\n\n\
             data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
             data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"A short text.\"}}}}\n\n\
             data: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{usage}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        ),
        Format::OpenAiChat => format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"A short text.\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
             data: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
        ),
        Format::OpenAiResponses => format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[\
             {{\"type\":\"message\",\"content\":[{{\"type\":\"output_text\",\"text\":\"A short text.\"}}]}}],\
             \"usage\":{usage}}}}}\n\n"
        ),
    }
}

async fn answered(format: Format, stream: String) -> (Reply, usize) {
    let server = Server::start(move |_, _| streamed(stream.as_bytes())).await;
    let model = remote(format, &server.url, Options::default());
    let reply = model.ask(request(prompt("go")), Heard::new()).await.unwrap();
    let sent = server.asked()[0].body.len();
    (reply, sent)
}

/// The formats of OpenAI count cached tokens, read or written, among the input: each is billed once.
#[test]
fn tokens_written_to_the_cache_are_billed_once() {
    let cases = [
        (
            Format::OpenAiChat,
            r#"{"prompt_tokens":1000,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":300,"cache_write_tokens":200}}"#,
        ),
        (
            Format::OpenAiResponses,
            r#"{"input_tokens":1000,"output_tokens":50,"input_tokens_details":{"cached_tokens":300,"cache_write_tokens":200}}"#,
        ),
        (
            Format::AnthropicMessages,
            r#"{"input_tokens":500,"output_tokens":50,"cache_read_input_tokens":300,"cache_creation_input_tokens":200}"#,
        ),
    ];
    for (format, usage) in cases {
        let stream = stream(format, usage);
        let reply =
            replay(format, &Recorded::default(), [stream.as_bytes()], &*Heard::new()).unwrap();
        let wanted = Usage {
            input_tokens: 500,
            output_tokens: 50,
            cache_read_tokens: 300,
            cache_write_tokens: 200,
        };
        assert_eq!(reply.usage, wanted, "{format:?}");
        assert_eq!(notices(&reply), [], "{format:?}");
    }
}

/// A server that reports nothing, or nonsense, is counted by the bytes that went and came.
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
            Format::OpenAiChat => ("prompt_tokens", "completion_tokens"),
            Format::AnthropicMessages | Format::OpenAiResponses => {
                ("input_tokens", "output_tokens")
            }
        };
        let figures = |figure: &&str| format!("{{\"{input}\":{figure},\"{output}\":{figure}}}");
        let whole = ["{}", "null", "\"none\"", "[]", "7"].map(str::to_owned);
        for usage in absurd.iter().map(figures).chain(whole) {
            let (reply, sent) = answered(format, stream(format, &usage)).await;
            let Usage { input_tokens, output_tokens, .. } = reply.usage;
            let near = sent as u64 / 4;
            assert!(
                input_tokens >= near && input_tokens <= near + 1,
                "{format:?} {usage}: {input_tokens}"
            );
            assert!((1..1_000).contains(&output_tokens), "{format:?} {usage}: {output_tokens}");
            assert_eq!(notices(&reply), [Notice::UsageEstimated], "{format:?} {usage}");
        }
    }
}

/// A later figure adds to an earlier one and takes nothing back.
#[test]
fn a_later_figure_takes_nothing_back() {
    let text = String::from_utf8(cassette(Format::AnthropicMessages, "text")).unwrap();
    let lowered = text.replace(
        "\"usage\":{\"output_tokens\":12}",
        "\"usage\":{\"input_tokens\":-1,\"output_tokens\":12,\"cache_read_input_tokens\":\"x\"}",
    );
    assert_ne!(text, lowered);
    let read = |stream: &str| {
        replay(Format::AnthropicMessages, &Recorded::default(), [stream.as_bytes()], &*Heard::new())
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

/// The output limit and the end of the window are the same to a call whose arguments may be lost, in
/// an answer that was not streamed as well.
#[tokio::test]
async fn a_call_without_arguments_at_the_limit_is_cut_in_a_whole_answer_too() {
    let messages = r#"{"content":[{"type":"tool_use","id":"l","name":"List","input":{}}],"stop_reason":"LIMIT","usage":{"input_tokens":5,"output_tokens":5}}"#;
    let chat = r#"{"choices":[{"message":{"tool_calls":[{"id":"l","function":{"name":"List","arguments":""}}]},"finish_reason":"LIMIT"}],"usage":{"prompt_tokens":5,"completion_tokens":5}}"#;
    let responses = r#"{"status":"incomplete","incomplete_details":{"reason":"LIMIT"},"output":[{"type":"function_call","call_id":"l","name":"List","arguments":""}],"usage":{"input_tokens":5,"output_tokens":5}}"#;
    let cases = [
        (Format::AnthropicMessages, messages, "max_tokens", StopReason::MaxTokens),
        (
            Format::AnthropicMessages,
            messages,
            "model_context_window_exceeded",
            StopReason::ContextWindowExceeded,
        ),
        (Format::OpenAiChat, chat, "length", StopReason::MaxTokens),
        (Format::OpenAiChat, chat, "model_length", StopReason::ContextWindowExceeded),
        (Format::OpenAiResponses, responses, "max_output_tokens", StopReason::MaxTokens),
    ];
    for (format, body, limit, stop_reason) in cases {
        let body = body.replace("LIMIT", limit);
        let head = "content-type: application/json\r\n";
        let server = Server::start(move |_, _| whole("200 OK", head, &body)).await;
        let model = remote(format, &server.url, Options::default());
        let heard = Heard::new();
        let reply = model.ask(request(prompt("go")), heard.clone()).await.unwrap();
        assert_eq!((reply.stop_reason.clone(), reply.blocks.len()), (stop_reason, 0), "{limit}");
        let CutBlock { name, .. } = reply.cut.unwrap();
        assert_eq!(&*name, "List", "{format:?} {limit}");
        assert!(heard.blocks.lock().unwrap().is_empty(), "nothing may be started early");
    }
}
