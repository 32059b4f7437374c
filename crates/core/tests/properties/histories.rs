//! Properties of imported histories, and of transcripts cut anywhere.

use proptest::prelude::*;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::normalise::normalise;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::join_segments;
use windlass_core::message::request_check::check_messages;
use windlass_core::message::transcript::{SegmentKind, Transcript};

use super::cases;
use super::matter::{block, block_json, blocks, json, text};

/// Something like a message.
fn message() -> BoxedStrategy<String> {
    let string = |text: String| RawJson::string(&text).text().to_owned();
    let role = prop_oneof![
        5 => Just("\"user\"".to_owned()),
        5 => Just("\"assistant\"".to_owned()),
        1 => Just("\"system\"".to_owned()),
        1 => json(),
    ];
    let content = prop_oneof![
        6 => prop::collection::vec(block_json(), 0..5).prop_map(|blocks| format!("[{}]", blocks.join(","))),
        2 => text().prop_map(string),
        1 => json(),
    ];
    let whole = (role, content)
        .prop_map(|(role, content)| format!(r#"{{"role":{role},"content":{content}}}"#));
    prop_oneof![8 => whole.clone(), 1 => whole.prop_map(|inner| format!(r#"{{"type":"user","message":{inner}}}"#)), 1 => json()]
    .boxed()
}

fn results(blocks: &[ContentBlock]) -> Vec<ContentBlock> {
    let calls = blocks.iter().filter_map(ContentBlock::as_tool_use);
    calls
        .map(|call| ContentBlock::tool_result(&call.id, &RawJson::string("ok"), ErrorFlag::Success))
        .collect()
}

/// A transcript of prompts, notes, replies and rounds in any order; invalid rounds are rejected.
fn transcript() -> BoxedStrategy<Transcript> {
    let part = prop_oneof![
        blocks().prop_map(|blocks| ('p', blocks)),
        text().prop_map(|text| ('n', vec![ContentBlock::text(&text)])),
        blocks().prop_map(|blocks| ('a', blocks)),
        prop::collection::vec(block(), 1..4).prop_map(|blocks| ('r', blocks)),
    ];
    prop::collection::vec(part, 0..25)
        .prop_map(|parts| {
            let mut transcript = Transcript::default();
            for (part, blocks) in parts {
                match part {
                    'p' => transcript.push_prompt(&blocks),
                    'n' => transcript.push_note(blocks[0].as_text().unwrap_or_default()),
                    'a' => transcript.push_reply(&blocks),
                    _ => drop(transcript.push_round(&blocks, results(&blocks))),
                }
            }
            transcript
        })
        .boxed()
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn any_history_becomes_one_the_api_accepts(history in prop::collection::vec(message(), 0..8)) {
        let history = format!("[{}]", history.join(","));
        // Only depth is rejected: everything else is repaired.
        if let Ok(made) = normalise(&history) {
            let messages = join_segments(made.transcript.segments().iter());
            if !messages.is_empty() {
                prop_assert_eq!(check_messages(&messages), Ok(()));
            }
            prop_assert!(made.repairs.is_sorted_by_key(|repair| repair.message_index()));
        } else {
            prop_assert!(history.contains(&"[".repeat(100)));
        }
    }

    // spec: TRANSCRIPT-04, WINDOW-09
    #[test]
    fn whatever_is_pushed_and_cut_the_api_accepts_it(transcript in transcript(), keep in 0..12_u32) {
        let whole = join_segments(transcript.segments().iter());
        if !whole.is_empty() {
            prop_assert_eq!(check_messages(&whole), Ok(()));
        }
        if let Some(cut) = transcript.cut_point(keep) {
            let first = transcript.segments().get(cut).map(|segment| segment.kind);
            prop_assert!(first != Some(SegmentKind::Results));
            prop_assert!(join_segments(transcript.segments().iter().skip(cut)).len() >= keep as usize);
            let mut compacted = transcript.clone();
            compacted.compact(cut, "left out", &[], "");
            prop_assert_eq!(check_messages(&join_segments(compacted.segments().iter())), Ok(()));
        } else {
            prop_assert!(whole.len() <= keep as usize);
        }
    }
}
