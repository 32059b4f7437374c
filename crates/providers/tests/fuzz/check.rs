//! What must hold for any bytes.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::input::Failure;
use windlass_core::raw::Raw;
use windlass_core::reply::Reply;
use windlass_providers::names::Format;
use windlass_providers::{Recorded, replay};

use crate::dice::Dice;
use crate::heard::Heard;
use crate::slowly::{said, slowly};

/// Inputs up to this long are also given byte by byte.
const BYTEWISE: usize = 4 << 10;

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) inputs: u64,
    pub(crate) bytes: u64,
    pub(crate) replies: u64,
    pub(crate) failures: u64,
}

#[derive(Debug, PartialEq)]
struct Seen {
    reply: Result<Reply, Failure>,
    blocks: Vec<(u16, Block)>,
    text: String,
    thinking: String,
}

fn decode<'a>(format: Format, pieces: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let stops = vec![Arc::from("\n---END---")];
    let recorded = Recorded { model: Arc::from("m"), ask: 1, stops };
    let heard = Heard::new();
    let reply = replay(format, &recorded, pieces, &*heard);
    let (blocks, text) = (heard.blocks.lock().unwrap().clone(), heard.text());
    let thinking = heard.thinking.lock().unwrap().clone();
    Seen { reply, blocks, text, thinking }
}

pub(crate) fn check(format: Format, bytes: &[u8], dice: &mut Dice, tally: &mut Tally) {
    let whole = decode(format, [bytes]);
    assert_eq!(decode(format, split(bytes, dice)), whole, "{}", shown(format, bytes));
    if bytes.len() <= BYTEWISE {
        assert_eq!(decode(format, bytes.chunks(1)), whole, "{}", shown(format, bytes));
    }
    announced_is_there(format, bytes, &whole);
    the_parser_agrees(format, bytes, &whole);
    blocks_are_what_they_say(format, bytes, &whole);
    tally.inputs += 1;
    tally.bytes += bytes.len() as u64;
    match whole.reply {
        Ok(_) => tally.replies += 1,
        Err(_) => tally.failures += 1,
    }
}

fn split<'a>(bytes: &'a [u8], dice: &mut Dice) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = (0..dice.below(9)).map(|_| dice.below(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// A block that was announced is in the reply at the place it was announced for.
fn announced_is_there(format: Format, bytes: &[u8], seen: &Seen) {
    let Ok(reply) = &seen.reply else { return };
    for (index, block) in &seen.blocks {
        let there = reply.blocks.get(usize::from(*index));
        assert_eq!(there, Some(block), "{}", shown(format, bytes));
    }
}

/// Whatever is read without a parser is read as the parser reads it.
fn the_parser_agrees(format: Format, bytes: &[u8], seen: &Seen) {
    let slow = decode(format, [slowly(bytes).as_slice()]);
    assert_eq!(said(&slow.reply), said(&seen.reply), "{}", shown(format, bytes));
    let heard = |seen: &Seen| (seen.blocks.clone(), seen.text.clone(), seen.thinking.clone());
    assert_eq!(heard(&slow), heard(seen), "{}", shown(format, bytes));
}

/// A block that was made from its parts is what reading its text would make of it.
fn blocks_are_what_they_say(format: Format, bytes: &[u8], seen: &Seen) {
    let Ok(reply) = &seen.reply else { return };
    for block in &reply.blocks {
        let read = Block::new(Raw::parse(block.raw().text()).unwrap());
        assert_eq!(read.kind(), block.kind(), "{}", shown(format, bytes));
    }
}

fn shown(format: Format, bytes: &[u8]) -> String {
    format!("{format:?}: {}", bytes.escape_ascii())
}
