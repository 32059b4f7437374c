//! Malformed streams: a typed failure or the same reply, never a panic.

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{RecordedCall, replay_stream};

use crate::format_scenarios::{FORMATS, cassette, scenarios};
use crate::recording_stream::RecordingStream;

fn decode(format: WireFormat, stream: &[u8]) -> Result<ModelReply, ModelFailure> {
    replay_stream(format, &RecordedCall::default(), [stream], &*RecordingStream::new())
}

#[test]
fn many_events_without_end_are_given_up() {
    let start = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let more = format!(
        "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{}\"}}}}\n\n",
        "x".repeat(1 << 20)
    );
    let pieces = std::iter::once(start.as_bytes()).chain((0..200).map(|_| more.as_bytes()));
    let recorded = RecordedCall::default();
    let failure =
        replay_stream(WireFormat::AnthropicMessages, &recorded, pieces, &*RecordingStream::new())
            .unwrap_err();
    assert!(failure.message.contains("the reply exceeds"), "{}", failure.message);
}

// spec: FAULT-48
#[test]
fn json_of_any_depth_overflows_nothing() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for format in FORMATS {
        let kind = match format {
            WireFormat::AnthropicMessages => "content_block_start",
            WireFormat::OpenAiChat => "chunk",
            WireFormat::OpenAiResponses => "response.completed",
        };
        for field in ["content_block", "choices", "response", "error", "unknown", "usage", "delta"]
        {
            let event = format!("data: {{\"type\":\"{kind}\",\"{field}\":{deep}}}\n\n");
            let _ = decode(format, event.as_bytes());
        }
        assert!(decode(format, format!("data: {deep}\n\n").as_bytes()).is_err());
    }
}

#[test]
fn deep_arguments_are_kept_and_hurt_nobody() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let stream = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"id\":\"c\",\"function\":{{\"name\":\"F\",\
         \"arguments\":\"{{\\\"a\\\":{deep}}}\"}}}}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let reply = decode(WireFormat::OpenAiChat, stream.as_bytes()).unwrap();
    assert_eq!(reply.tool_uses().count(), 1);
}

// spec: FAULT-48
#[test]
fn absurd_numbers_are_no_numbers() {
    for absurd in ["1e999", "-5", "18446744073709551616", "\"many\"", "null", "1.5"] {
        let stream = format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":{absurd}}}}}}}\n\n\
             data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{{\"output_tokens\":{absurd}}}}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        );
        let reply = decode(WireFormat::AnthropicMessages, stream.as_bytes()).unwrap();
        assert_eq!(reply.usage.total_tokens(), 0, "{absurd}");
    }
}

/// Which of two equal keys counts is undefined, so neither does; inside arguments they are left to
/// the tool and stay as they came.
// spec: FAULT-48
#[test]
fn keys_that_stand_twice_are_not_guessed_about() {
    let twice = b"data: {\"type\":\"ping\",\"type\":\"message_stop\"}\n\n";
    let failure = decode(WireFormat::AnthropicMessages, twice).unwrap_err();
    assert!(failure.message.contains("duplicate field"), "{}", failure.message);
    let stream = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"F\",\
         \"arguments\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let reply = decode(WireFormat::OpenAiChat, stream.as_bytes()).unwrap();
    let (_, call) = reply.tool_uses().next().unwrap();
    assert_eq!(call.input.text(), r#"{"a":1,"a":2}"#);
}

/// Line ends of all kinds, a byte order mark, comments, unneeded ids, unknown events, and a line of
/// ten megabytes: the reply is the same.
// spec: FAULT-47
#[test]
fn an_odd_stream_is_read_like_any_other() {
    for format in FORMATS {
        let plain = cassette(format, "text");
        let wanted = decode(format, &plain).unwrap();
        let output = wanted.text();
        let odd = "id: \u{0}\u{1}nonsense\nretry: never\n: flood\n".repeat(1_000);
        let unknown = "event: of_tomorrow\ndata: {\"type\":\"of_tomorrow\"}\n\n";
        let text = String::from_utf8(plain).unwrap();
        let ends = ["\r\n", "\n", "\r"];
        let mixed = text.lines().zip(ends.iter().cycle()).map(|(line, end)| format!("{line}{end}"));
        let stream = format!("\u{feff}{odd}\n{unknown}{}", mixed.collect::<String>());
        let reply = decode(format, stream.as_bytes()).unwrap();
        assert_eq!((reply.blocks, reply.stop_reason), (wanted.blocks, wanted.stop_reason));
        let long = format!(": {}\n{text}", "x".repeat(10 << 20));
        assert_eq!(decode(format, long.as_bytes()).unwrap().text(), output);
    }
}

/// Wherever a stream breaks, it is an error, and nothing of it counts.
// spec: FAULT-27, FAULT-28
#[test]
fn a_stream_that_breaks_anywhere_is_a_fault() {
    for format in FORMATS {
        for name in ["calls", "cut_call", "text"] {
            let bytes = cassette(format, name);
            let text = String::from_utf8(bytes).unwrap();
            let events: Vec<&str> = text.split_inclusive("\n\n").collect();
            // All but the last events: the reply is over when its stop event has come.
            let last = match format {
                WireFormat::OpenAiChat => 3,
                WireFormat::AnthropicMessages | WireFormat::OpenAiResponses => 1,
            };
            for end in 0..events.len() - last {
                let cut = events[..end].concat();
                let failure = decode(format, cut.as_bytes()).unwrap_err();
                let wanted =
                    if end == 0 { FailureClass::Transient } else { FailureClass::StreamCut };
                assert_eq!(failure.class, wanted, "{format:?} {name} after {end} events");
            }
        }
    }
}

// spec: FAULT-33
#[test]
fn an_error_inside_the_stream_has_its_class() {
    let error = |format, kind: &str| match format {
        WireFormat::AnthropicMessages => format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"m\"}}}}\n\n"
        ),
        WireFormat::OpenAiChat => {
            format!("data: {{\"error\":{{\"message\":\"m\",\"type\":\"{kind}\"}}}}\n\n")
        }
        WireFormat::OpenAiResponses => {
            format!(
                "event: error\ndata: {{\"type\":\"error\",\"code\":\"{kind}\",\"message\":\"m\"}}\n\n"
            )
        }
    };
    for format in FORMATS {
        let text = String::from_utf8(cassette(format, "text")).unwrap();
        let begun: String = text.split_inclusive("\n\n").take(3).collect();
        let class = |stream: String| decode(format, stream.as_bytes()).unwrap_err().class;
        assert_eq!(class(error(format, "overloaded_error")), FailureClass::Transient);
        assert_eq!(
            class(begun.clone() + &error(format, "overloaded_error")),
            FailureClass::StreamCut
        );
        assert_eq!(class(begun + &error(format, "invalid_request_error")), FailureClass::Permanent);
    }
}

/// Usual events take the fast path; written a little differently they take the parser. Both give
/// the same reply.
#[test]
fn the_short_way_and_the_long_way_lead_to_the_same_reply() {
    for scenario in scenarios() {
        let usual =
            String::from_utf8(cassette(WireFormat::AnthropicMessages, scenario.name)).unwrap();
        let unusual = usual.replace("data: {\"type", "data: { \"type");
        let read = |stream: &str| decode(WireFormat::AnthropicMessages, stream.as_bytes()).unwrap();
        let (short, long) = (read(&usual), read(&unusual));
        assert_eq!(short.blocks, long.blocks, "{}", scenario.name);
        assert_eq!(
            (&short.truncated_block, &short.stop_reason),
            (&long.truncated_block, &long.stop_reason)
        );
    }
}
