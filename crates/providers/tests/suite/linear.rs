//! Building a reply takes time in proportion to its length, not to the square of it: a server that
//! sends a long reply in small pieces must not keep a process busy for minutes.

use std::sync::Arc;
use std::time::Duration;

use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{RecordedCall, replay_stream};

use crate::recording_stream::RecordingStream;

/// The number of pieces of the shorter reply; the longer one has four times as many.
const PIECES: usize = 10_000;

/// The largest accepted ratio: four times the work takes four times as long, sixteen times if it is
/// quadratic.
const MOST_RATIO: u32 = 9;

/// The shortest time that says something about the growth.
const MEASURABLE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Text,
    Thinking,
    Arguments,
}

/// A reply of this many pieces of 20 characters.
fn stream(format: WireFormat, what: What, pieces: usize) -> Vec<u8> {
    const PIECE: &str = "twenty letters, yes ";
    let (before, delta, after) = match (format, what) {
        (WireFormat::AnthropicMessages, What::Text) => (
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{PIECE}"}}}}"#
            ),
            vec![
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
        (WireFormat::AnthropicMessages, What::Thinking) => (
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"thinking_delta","thinking":"{PIECE}"}}}}"#
            ),
            vec![
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
        (WireFormat::AnthropicMessages, What::Arguments) => (
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{}}}"#,
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{PIECE}"}}}}"#
            ),
            vec![
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
        (WireFormat::OpenAiChat, What::Text) => (
            r#"{"choices":[{"delta":{"role":"assistant"}}]}"#,
            format!(r#"{{"choices":[{{"delta":{{"content":"{PIECE}"}}}}]}}"#),
            vec![r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
        ),
        (WireFormat::OpenAiChat, What::Thinking) => (
            r#"{"choices":[{"delta":{"role":"assistant"}}]}"#,
            format!(r#"{{"choices":[{{"delta":{{"reasoning_content":"{PIECE}"}}}}]}}"#),
            vec![r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#, "[DONE]"],
        ),
        (WireFormat::OpenAiChat, What::Arguments) => (
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"Read","arguments":""}}]}}]}"#,
            format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{PIECE}"}}}}]}}}}]}}"#
            ),
            vec![r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, "[DONE]"],
        ),
        (WireFormat::OpenAiResponses, What::Text | What::Thinking | What::Arguments) => (
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}"#,
            format!(
                r#"{{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"{PIECE}"}}"#
            ),
            vec![
                r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}}"#,
            ],
        ),
    };
    let mut stream = format!("data: {before}\n\n");
    for _ in 0..pieces {
        stream.push_str("data: ");
        stream.push_str(&delta);
        stream.push_str("\n\n");
    }
    after.iter().for_each(|event| stream.push_str(&format!("data: {event}\n\n")));
    stream.into_bytes()
}

/// The shortest of several attempts: other processes make an attempt longer, never shorter.
fn shortest(mut work: impl FnMut()) -> Duration {
    let once = |()| {
        let begin = time_on_cpu();
        work();
        time_on_cpu().saturating_sub(begin)
    };
    [(); 5].map(once).into_iter().min().unwrap_or_default()
}

/// The CPU time of this thread, as the kernel counts it: on a busy machine a thread waits more than
/// it runs.
fn time_on_cpu() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = counted.split_whitespace().next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

fn decoded(format: WireFormat, bytes: &[u8], stops: &[&str]) -> ModelReply {
    let stop_strings = stops.iter().map(|stop| Arc::from(*stop)).collect();
    let recorded = RecordedCall { stop_strings, ..RecordedCall::default() };
    // As they come from a socket.
    replay_stream(format, &recorded, bytes.chunks(8_192), &*RecordingStream::new()).unwrap()
}

#[test]
fn a_reply_in_many_pieces_is_put_together_in_linear_time() {
    for (format, what, stops) in [
        (WireFormat::AnthropicMessages, What::Text, [].as_slice()),
        (WireFormat::AnthropicMessages, What::Text, &["never said"]),
        (WireFormat::AnthropicMessages, What::Thinking, &[]),
        (WireFormat::AnthropicMessages, What::Arguments, &[]),
        (WireFormat::OpenAiChat, What::Text, &[]),
        (WireFormat::OpenAiChat, What::Text, &["never said"]),
        (WireFormat::OpenAiChat, What::Thinking, &[]),
        (WireFormat::OpenAiChat, What::Arguments, &[]),
        (WireFormat::OpenAiResponses, What::Text, &[]),
        (WireFormat::OpenAiResponses, What::Text, &["never said"]),
    ] {
        let (short, long) = (stream(format, what, PIECES), stream(format, what, 4 * PIECES));
        let short = shortest(|| drop(decoded(format, &short, stops)));
        let long = shortest(|| drop(decoded(format, &long, stops)));
        assert!(
            long < MEASURABLE || long < short * MOST_RATIO,
            "{format:?} {what:?} {stops:?}: {short:?}, and {long:?} for four times as much"
        );
    }
}

/// One line that never ends comes in small pieces.
#[test]
fn a_large_event_in_small_pieces_is_read_in_linear_time() {
    let event = |letters: usize| {
        let text = "x".repeat(letters);
        let text = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\n\
             data: [DONE]\n\n"
        );
        text.into_bytes()
    };
    let read = |bytes: &[u8]| {
        let pieces = bytes.chunks(64);
        drop(
            replay_stream(
                WireFormat::OpenAiChat,
                &RecordedCall::default(),
                pieces,
                &*RecordingStream::new(),
            )
            .unwrap(),
        );
    };
    let (short, long) = (event(500_000), event(2_000_000));
    let (short, long) = (shortest(|| read(&short)), shortest(|| read(&long)));
    assert!(long < MEASURABLE || long < short * MOST_RATIO, "{short:?}, {long:?}");
}
