//! Arbitrary bytes never panic, any split of the same bytes gives the same reply, and the parser
//! agrees with the fast path.
//!
//! Longer by hand: `PROPTEST_CASES=100000 cargo test -p windlass-providers --test suite fuzz`.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::log::input::ModelFailure;
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{RecordedCall, replay_stream};

use crate::format_scenarios::{FORMATS, STOP, cassette, scenarios};
use crate::parser_only::{comparable_reply, defeat_fast_path};
use crate::recording_stream::RecordingStream;

fn decode<'a>(
    format: WireFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (
    Result<ModelReply, ModelFailure>,
    Vec<(u16, windlass_core::message::content_block::ContentBlock)>,
) {
    let recorded =
        RecordedCall { model: Arc::from("m"), model_call: 1, stop_strings: vec![Arc::from(STOP)] };
    let recording = RecordingStream::new();
    let reply = replay_stream(format, &recorded, pieces, &*recording);
    let blocks = recording.blocks.lock().unwrap().clone();
    (reply, blocks)
}

fn format() -> impl Strategy<Value = WireFormat> {
    prop::sample::select(FORMATS.to_vec())
}

/// A recorded stream, damaged: bytes changed, lines removed, doubled or swapped.
fn damaged() -> impl Strategy<Value = (WireFormat, Vec<u8>)> {
    let names: Vec<&'static str> = scenarios().iter().map(|scenario| scenario.name).collect();
    let damage = prop::collection::vec((0..5_u8, any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (format(), prop::sample::select(names), damage).prop_map(|(format, name, damage)| {
        let mut bytes = cassette(format, name);
        for (kind, at, byte) in damage {
            harm(&mut bytes, kind, at, byte);
        }
        (format, bytes)
    })
}

fn harm(bytes: &mut Vec<u8>, kind: u8, at: prop::sample::Index, byte: u8) {
    if bytes.is_empty() {
        return;
    }
    match kind {
        0 => *at.get_mut(bytes) = byte,
        1 => bytes.truncate(at.index(bytes.len())),
        2 => bytes.insert(at.index(bytes.len()), byte),
        _ => {
            let mut events: Vec<Vec<u8>> =
                String::from_utf8_lossy(bytes).split_inclusive("\n\n").map(|e| e.into()).collect();
            let index = at.index(events.len());
            if kind == 3 {
                events.remove(index);
            } else {
                let again = events[index].clone();
                events.insert(usize::from(byte) % (events.len() + 1), again);
            }
            *bytes = events.concat();
        }
    }
}

fn same_for_any_split(
    format: WireFormat,
    bytes: &[u8],
    cuts: &[prop::sample::Index],
) -> Result<(), TestCaseError> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let whole = decode(format, [bytes]);
    let pieces = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
    prop_assert_eq!(&decode(format, pieces), &whole);
    prop_assert_eq!(&decode(format, bytes.chunks(1)), &whole);
    let (reply, blocks) = decode(format, [defeat_fast_path(bytes).as_slice()]);
    prop_assert_eq!((comparable_reply(&reply), &blocks), (comparable_reply(&whole.0), &whole.1));
    announced_is_what_is_there(&whole)
}

/// Checks that an announced block is in the reply at the index for which it was announced.
fn announced_is_what_is_there(
    (reply, blocks): &(
        Result<ModelReply, ModelFailure>,
        Vec<(u16, windlass_core::message::content_block::ContentBlock)>,
    ),
) -> Result<(), TestCaseError> {
    if let Ok(reply) = reply {
        for (index, block) in blocks {
            prop_assert_eq!(reply.blocks.get(usize::from(*index)), Some(block));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn damaged_streams((format, bytes) in damaged(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        same_for_any_split(format, &bytes, &cuts)?;
    }

    #[test]
    fn arbitrary_bytes(format in format(), bytes in prop::collection::vec(any::<u8>(), 0..300), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        same_for_any_split(format, &bytes, &cuts)?;
    }

    #[test]
    fn arbitrary_events(
        format in format(),
        events in prop::collection::vec(event(), 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes: Vec<u8> = events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect();
        same_for_any_split(format, &bytes, &cuts)?;
    }
}

/// Objects with the fields and types that the decoders look for, assembled at random.
fn event() -> impl Strategy<Value = String> {
    let types = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.completed",
        "response.incomplete",
    ]);
    let values = prop::sample::select(vec![
        "0",
        "1",
        "-1",
        "1e9",
        "null",
        "\"\"",
        "\"x\"",
        "\"\\ud800\"",
        "{}",
        "[]",
        "[[]]",
        "[{}]",
        r#"{"type":"text","text":""}"#,
        r#"{"type":"text","text":"a"}"#,
        r#"{"type":"text","text":"a","text":"\n"}"#,
        r#"{"text":"a","type":"text"}"#,
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        r#"{"type":"tool_use","id":"i","name":"n","input":{}}"#,
        r#"{"type":"tool_use","id":"\n","name":"n","input":{"a":1}}"#,
        r#"{"type":"tool_use","id":"i","name":"n","input":{},"caller":{}}"#,
        r#"{"type":"text_delta","text":"b"}"#,
        r#"{"type":"text_delta","text":"b\n---END---"}"#,
        r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
        r#"{"type":"input_json_delta","partial_json":"1}"}"#,
        r#"{"stop_reason":"tool_use"}"#,
        r#"[{"delta":{"content":"c"}}]"#,
        r#"[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"n","arguments":"{}"}}]}}]"#,
        r#"[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"stop"}]"#,
        r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{"}"#,
        r#"{"type":"message","content":[{"type":"output_text","text":"d"}]}"#,
        r#"{"type":"reasoning","summary":[{"text":"e"}]}"#,
        r#"{"status":"completed","output":[{"type":"function_call"}]}"#,
        r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#,
    ]);
    let fields = prop::sample::select(vec![
        "index",
        "output_index",
        "content_block",
        "delta",
        "usage",
        "message",
        "choices",
        "item",
        "response",
        "error",
    ]);
    (types, prop::collection::btree_map(fields, values, 0..4)).prop_map(|(kind, fields)| {
        // The service writes the index of the block first.
        let (first, rest): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| **key == "index");
        let field = |(key, value): &(&&str, &&str)| format!(",\"{key}\":{value}");
        let fields: String = first.iter().chain(&rest).map(field).collect();
        format!("{{\"type\":\"{kind}\"{fields}}}")
    })
}
