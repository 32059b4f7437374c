use super::history_message::HistoryMessage;
use super::normalise::normalise;
use super::transcript::{Role, SegmentKind, Transcript};
use crate::message::content_block::ContentBlock;

fn messages_of(transcript: &Transcript) -> Vec<HistoryMessage> {
    transcript.segments().iter().map(HistoryMessage::from).collect()
}

#[test]
fn a_transcript_survives_its_messages() {
    let history = r#"[
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Three."}]}
    ]"#;
    let transcript = normalise(history).unwrap().transcript;

    let again = Transcript::from_history(&messages_of(&transcript));

    assert_eq!(transcript.segments().len(), 4);
    assert_eq!(again, transcript);
}

#[test]
fn a_call_without_its_result_is_left_out() {
    let call = r#"{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}"#;
    let reply =
        vec![ContentBlock::text("Looking."), serde_json::from_str::<ContentBlock>(call).unwrap()];
    let messages = [
        HistoryMessage {
            role: Role::User,
            kind: SegmentKind::Prompt,
            blocks: vec![ContentBlock::text("count")],
        },
        HistoryMessage { role: Role::Assistant, kind: SegmentKind::Reply, blocks: reply },
    ];

    let transcript = Transcript::from_history(&messages);

    let last = transcript.segments().back().unwrap();
    assert_eq!(last.blocks.len(), 1);
    assert_eq!(last.blocks[0].as_text(), Some("Looking."));
}

#[test]
fn messages_that_start_with_a_reply_make_no_request() {
    let reply = HistoryMessage {
        role: Role::Assistant,
        kind: SegmentKind::Reply,
        blocks: vec![ContentBlock::text("Three.")],
    };

    assert!(!Transcript::from_history(&[reply]).can_be_sent());
}
