//! The properties that must hold for any bytes.

use std::sync::Arc;

use windlass_core::log::input::ModelFailure;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{RecordedCall, replay_stream};

use crate::event_message::EventMessage;
use crate::parser_only::{comparable_reply, defeat_fast_path};
use crate::random::SeededRandom;
use crate::recording_stream::RecordingStream;

/// Inputs up to this long are also given byte by byte.
const BYTEWISE: usize = 4 << 10;

#[derive(Default)]
pub(crate) struct FuzzTally {
    pub(crate) inputs: u64,
    pub(crate) bytes: u64,
    pub(crate) replies: u64,
    pub(crate) failures: u64,
}

#[derive(Debug, PartialEq)]
struct DecodeResult {
    reply: Result<ModelReply, ModelFailure>,
    blocks: Vec<(u16, ContentBlock)>,
    text: String,
    thinking: String,
    events: Vec<String>,
}

fn decode<'a>(format: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> DecodeResult {
    decode_with(format, pieces, &RecordingStream::with_events())
}

fn decode_with<'a>(
    format: WireFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    recording: &RecordingStream,
) -> DecodeResult {
    let stop_strings = vec![Arc::from("\n---END---")];
    let recorded = RecordedCall { model: Arc::from("m"), model_call: 1, stop_strings };
    let reply = replay_stream(format, &recorded, pieces, recording);
    let (blocks, text) = (recording.blocks.lock().unwrap().clone(), recording.text());
    let thinking = recording.thinking.lock().unwrap().clone();
    let events = recording.events();
    DecodeResult { reply, blocks, text, thinking, events }
}

pub(crate) fn check(
    format: WireFormat,
    bytes: &[u8],
    dice: &mut SeededRandom,
    tally: &mut FuzzTally,
) {
    let whole = decode(format, [bytes]);
    assert_eq!(decode(format, split(bytes, dice)), whole, "{}", describe_input(format, bytes));
    if bytes.len() <= BYTEWISE {
        assert_eq!(decode(format, bytes.chunks(1)), whole, "{}", describe_input(format, bytes));
    }
    let without_events = decode_with(format, [bytes], &RecordingStream::new());
    assert_eq!(without_events.reply, whole.reply, "{}", describe_input(format, bytes));
    announced_is_there(format, bytes, &whole);
    the_parser_agrees(format, bytes, &whole);
    blocks_are_what_they_say(format, bytes, &whole);
    converted_events_are_in_order(format, &whole);
    tally.inputs += 1;
    tally.bytes += bytes.len() as u64;
    match whole.reply {
        Ok(_) => tally.replies += 1,
        Err(_) => tally.failures += 1,
    }
}

fn split<'a>(bytes: &'a [u8], dice: &mut SeededRandom) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = (0..dice.below(9)).map(|_| dice.below(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Checks that an announced block is in the reply at the index for which it was announced.
fn announced_is_there(format: WireFormat, bytes: &[u8], decoded: &DecodeResult) {
    let Ok(reply) = &decoded.reply else { return };
    for (index, block) in &decoded.blocks {
        let there = reply.blocks.get(usize::from(*index));
        assert_eq!(there, Some(block), "{}", describe_input(format, bytes));
    }
}

/// Checks that the fast path reads events as the parser does.
fn the_parser_agrees(format: WireFormat, bytes: &[u8], decoded: &DecodeResult) {
    let slow = decode(format, [defeat_fast_path(bytes).as_slice()]);
    assert_eq!(
        comparable_reply(&slow.reply),
        comparable_reply(&decoded.reply),
        "{}",
        describe_input(format, bytes)
    );
    let heard = |decoded: &DecodeResult| {
        (decoded.blocks.clone(), decoded.text.clone(), decoded.thinking.clone())
    };
    assert_eq!(heard(&slow), heard(decoded), "{}", describe_input(format, bytes));
}

/// Checks that a block that was built from its parts equals the block parsed from its text.
fn blocks_are_what_they_say(format: WireFormat, bytes: &[u8], decoded: &DecodeResult) {
    let Ok(reply) = &decoded.reply else { return };
    for block in &reply.blocks {
        let read = ContentBlock::new(RawJson::parse(block.raw().text()).unwrap());
        assert_eq!(read.kind(), block.kind(), "{}", describe_input(format, bytes));
    }
}

/// Checks the order of events that were converted. Those of the Messages API are as they came.
fn converted_events_are_in_order(format: WireFormat, decoded: &DecodeResult) {
    if format != WireFormat::AnthropicMessages
        && decoded.reply.is_ok()
        && !decoded.events.is_empty()
    {
        EventMessage::fold(&decoded.events);
    }
}

fn describe_input(format: WireFormat, bytes: &[u8]) -> String {
    format!("{format:?}: {}", bytes.escape_ascii())
}
