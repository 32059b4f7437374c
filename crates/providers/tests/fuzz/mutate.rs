//! Inputs: recorded streams, damaged at every level from bits to events, and plain noise.

use windlass_providers::catalog::provider_table::WireFormat;

use crate::corpus::FuzzCorpus;
use crate::random::SeededRandom;

/// The largest input: a longer one only costs time.
const MOST_BYTES: usize = 64 << 10;

/// Values that replace other values.
const VALUES: &[&str] = &[
    "null",
    "0",
    "-1",
    "1e999",
    "18446744073709551616",
    "true",
    "\"\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "\"\\n---END---\"",
    "\"\\n---EN\"",
    "{}",
    "[]",
    "[{}]",
    "{\"type\":\"text\",\"text\":\"x\"}",
    "{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"n\",\"input\":{}}",
    "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}",
    "{\"stop_reason\":\"tool_use\"}",
    "[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]}}]",
    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{\"}",
];

/// Pieces with a meaning in a stream of events.
const PIECES: &[&str] = &[
    "\n\n",
    "\r\n\r\n",
    "\r",
    "data: ",
    "data:",
    "data: [DONE]\n\n",
    "event: error\n",
    ": ping\n\n",
    "\u{feff}",
    "id: 1\n",
    "retry: 5\n",
    "\u{1f600}",
    "{",
    "}",
    "\"",
    "\\",
];

pub(crate) fn input(corpus: &FuzzCorpus, format: WireFormat, dice: &mut SeededRandom) -> Vec<u8> {
    if dice.below(16) == 0 {
        let length = dice.below(400);
        return (0..length).map(|_| dice.byte()).collect();
    }
    let mut bytes = corpus.of(format, dice).to_vec();
    for _ in 0..dice.below(7) {
        bytes = mutated_input(bytes, corpus, dice);
        bytes.truncate(MOST_BYTES);
    }
    bytes
}

fn mutated_input(mut bytes: Vec<u8>, corpus: &FuzzCorpus, dice: &mut SeededRandom) -> Vec<u8> {
    let at = dice.below(bytes.len() + 1);
    match dice.below(10) {
        0 => change(&mut bytes, dice),
        1 => bytes.truncate(at),
        2 => bytes.insert(at, dice.byte()),
        3 => insert(&mut bytes, at, dice.pick(PIECES).as_bytes()),
        4 => return put_value(&bytes, dice),
        5 => return replace_bytes(&bytes, "\n", "\r\n"),
        6 => deepen(&mut bytes, at, dice),
        7 => {
            let other = corpus.any(dice);
            let start = dice.below(other.len());
            insert(&mut bytes, at, &other[start..(start + dice.below(300)).min(other.len())]);
        }
        _ => return shuffle(&bytes, corpus, dice),
    }
    bytes
}

fn change(bytes: &mut [u8], dice: &mut SeededRandom) {
    let at = dice.below(bytes.len());
    if let Some(place) = bytes.get_mut(at) {
        *place = if dice.below(2) == 0 { dice.byte() } else { *place ^ (1 << dice.below(8)) };
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, chunk: &[u8]) {
    bytes.splice(at..at, chunk.iter().copied());
}

fn deepen(bytes: &mut Vec<u8>, at: usize, dice: &mut SeededRandom) {
    let depth = 1 << dice.below(12);
    let nest = [b'[', b'{', b'"'][dice.below(3)];
    insert(bytes, at, &vec![nest; depth]);
}

/// Replaces the value behind some colon.
fn put_value(bytes: &[u8], dice: &mut SeededRandom) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let colons: Vec<usize> = text.match_indices("\":").map(|(at, _)| at + 2).collect();
    if colons.is_empty() {
        return bytes.to_vec();
    }
    let start = *dice.pick(&colons);
    let rest = &text[start..];
    let end = start + rest.find([',', '}', '\n']).unwrap_or(rest.len());
    let value = VALUES[dice.below(VALUES.len())];
    [&text[..start], value, &text[end..]].concat().into_bytes()
}

fn replace_bytes(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace(from, to).into_bytes()
}

/// Removes, doubles or moves an event, or inserts one of another stream.
fn shuffle(bytes: &[u8], corpus: &FuzzCorpus, dice: &mut SeededRandom) -> Vec<u8> {
    let mut events = events(bytes);
    if events.is_empty() {
        return bytes.to_vec();
    }
    let (from, to) = (dice.below(events.len()), dice.below(events.len()));
    match dice.below(4) {
        0 => drop(events.remove(from)),
        1 => events.insert(to, events[from].clone()),
        2 => events.swap(from, to),
        _ => {
            let others = self::events(corpus.any(dice));
            events.insert(to, dice.pick(&others).clone());
        }
    }
    events.concat()
}

fn events(bytes: &[u8]) -> Vec<Vec<u8>> {
    String::from_utf8_lossy(bytes).split_inclusive("\n\n").map(Into::into).collect()
}
