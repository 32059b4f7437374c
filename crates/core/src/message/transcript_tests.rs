use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::request::join_segments;
use crate::message::request_check::check_messages;
use crate::message::transcript::{SegmentKind, Transcript};

fn call(id: &str) -> ContentBlock {
    ContentBlock::tool_use(id, "read", &RawJson::parse("{}").unwrap())
}

fn result(id: &str) -> ContentBlock {
    ContentBlock::tool_result(id, &RawJson::string("ok"), ErrorFlag::Success)
}

fn thought() -> ContentBlock {
    ContentBlock::new(
        RawJson::parse(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#).unwrap(),
    )
}

fn prompted() -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("hi")]);
    transcript
}

fn parts(transcript: &Transcript) -> String {
    let letter = |part| match part {
        SegmentKind::Prompt => 'p',
        SegmentKind::Memory => 'm',
        SegmentKind::Note => 'n',
        SegmentKind::Summary => 's',
        SegmentKind::Journal => 'j',
        SegmentKind::Reply => 'a',
        SegmentKind::Results => 'r',
    };
    transcript.segments().iter().map(|segment| letter(segment.kind)).collect()
}

/// `rounds` rounds after a prompt: `p ar ar …`, with a prompt in between every fifth.
fn long(rounds: usize) -> Transcript {
    let mut transcript = prompted();
    for round in 0..rounds {
        transcript.push_round(&[call("t")], vec![result("t")]).unwrap();
        if round % 5 == 4 {
            transcript.push_reply(&[ContentBlock::text("so far")]);
            transcript.push_prompt(&[ContentBlock::text("go on")]);
        }
    }
    transcript
}

// spec: TRANSCRIPT-04, TRANSCRIPT-05
#[test]
fn a_round_needs_a_result_for_every_call_in_order() {
    let rows: [(Vec<ContentBlock>, Vec<ContentBlock>, bool); 9] = [
        (vec![call("a")], vec![result("a")], true),
        (vec![call("a"), call("b")], vec![result("a"), result("b")], true),
        (
            vec![ContentBlock::text("x"), call("a"), ContentBlock::text("y")],
            vec![result("a")],
            true,
        ),
        (vec![call("a"), call("b")], vec![result("b"), result("a")], false),
        (vec![call("a"), call("b")], vec![result("a")], false),
        (vec![call("a")], vec![result("a"), result("b")], false),
        (vec![call("a")], vec![result("b")], false),
        (vec![call("a")], vec![ContentBlock::text("ok")], false),
        (vec![call("a"), call("a")], vec![result("a"), result("a")], false),
    ];
    for (reply, results, fits) in rows {
        let mut transcript = prompted();
        let before = transcript.clone();
        assert_eq!(transcript.push_round(&reply, results).is_ok(), fits, "{reply:?}");
        if fits {
            assert_eq!(check_messages(&join_segments(transcript.segments().iter())), Ok(()));
        } else {
            assert_eq!(transcript, before, "a round that does not fit leaves no trace");
        }
    }
}

#[test]
fn nothing_begins_with_the_model() {
    let mut transcript = Transcript::default();
    transcript.push_reply(&[ContentBlock::text("hello")]);
    assert!(transcript.push_round(&[call("a")], vec![result("a")]).is_err());
    assert!(transcript.segments().is_empty() && !transcript.can_be_sent());
}

#[test]
fn blank_and_foreign_blocks_are_left_out() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text(" "), call("a"), result("a")]);
    transcript.push_note("");
    assert!(transcript.segments().is_empty());
    transcript.push_prompt(&[ContentBlock::text(""), ContentBlock::text("hi")]);
    transcript.push_reply(&[
        ContentBlock::text("\n"),
        call("a"),
        ContentBlock::text("yes"),
        result("b"),
    ]);
    transcript
        .push_round(&[ContentBlock::text(" "), result("x"), call("a")], vec![result("a")])
        .unwrap();
    let sizes: Vec<usize> =
        transcript.segments().iter().map(|segment| segment.blocks.len()).collect();
    assert_eq!(sizes, [1, 1, 1, 1]);
}

#[test]
fn thinking_stays_where_calls_are_answered_and_never_ends_a_reply() {
    let mut transcript = prompted();
    transcript.push_round(&[thought(), call("a"), thought()], vec![result("a")]).unwrap();
    let reply = &transcript.segments()[1].blocks;
    assert_eq!(reply.len(), 2);
    assert_eq!(reply[0].raw().text(), thought().raw().text());
    transcript.push_reply(&[thought()]);
    assert_eq!(parts(&transcript), "par");
    transcript.push_reply(&[thought(), ContentBlock::text("so"), thought()]);
    assert_eq!(transcript.segments()[3].blocks.len(), 2);
}

#[test]
fn arguments_that_are_no_object_are_not_sent() {
    let mut transcript = prompted();
    let odd = ContentBlock::tool_use("a", "read", &RawJson::parse("[1]").unwrap());
    transcript.push_round(&[odd], vec![result("a")]).unwrap();
    let sent = transcript.segments()[1].blocks[0].raw().text();
    assert_eq!(sent, r#"{"type":"tool_use","id":"a","name":"read","input":{}}"#);
}

#[test]
fn bytes_are_counted_as_they_come() {
    let transcript = long(7);
    let blocks = transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
    let bytes: usize = blocks.map(|block| block.raw().text().len()).sum();
    assert_eq!(transcript.byte_count(), bytes as u64);
    let mut compacted = transcript;
    compacted.compact(5, "left out", &[], "");
    let blocks = compacted.segments().iter().flat_map(|segment| segment.blocks.iter());
    let bytes: usize = blocks.map(|block| block.raw().text().len()).sum();
    assert_eq!(compacted.byte_count(), bytes as u64);
}

#[test]
fn a_cut_never_parts_a_call_from_its_result() {
    for rounds in 0..30 {
        let transcript = long(rounds);
        for keep in 0..20 {
            let Some(cut) = transcript.cut_point(keep) else { continue };
            let first = transcript.segments().get(cut).map(|segment| segment.kind);
            assert_ne!(first, Some(SegmentKind::Results), "{rounds} rounds, keep {keep}");
            let kept = join_segments(transcript.segments().iter().skip(cut)).len();
            assert!(kept >= keep as usize, "{rounds} rounds, keep {keep}: {kept}");
            let mut compacted = transcript.clone();
            compacted.compact(cut, "left out", &[], "");
            assert_eq!(check_messages(&join_segments(compacted.segments().iter())), Ok(()));
        }
    }
}

#[test]
fn with_nothing_old_there_is_no_cut() {
    assert_eq!(Transcript::default().cut_point(0), None);
    assert_eq!(prompted().cut_point(1), None);
    assert_eq!(prompted().cut_point(0), Some(1));
    assert_eq!(long(2).cut_point(u32::MAX), None);
}

#[test]
fn a_compaction_is_a_new_generation_that_begins_with_the_sentence() {
    let mut transcript = long(6);
    let kept = transcript.segments().iter().skip(7).cloned().collect::<Vec<_>>();
    transcript.compact(7, "left out", &[], "");
    assert_eq!(transcript.generation(), 1);
    assert_eq!(transcript.segments()[0].blocks[0].as_text(), Some("left out"));
    assert_eq!(transcript.segments().iter().skip(1).cloned().collect::<Vec<_>>(), kept);
    transcript.compact(usize::MAX, "all gone", &[], "");
    assert_eq!(parts(&transcript), "s");
}

// spec: TRANSCRIPT-12
#[test]
fn a_copy_shares_what_is_old() {
    let transcript = long(100);
    let mut copy = transcript.clone();
    copy.push_note("more");
    let shared = transcript.segments().iter().zip(copy.segments());
    assert!(shared.into_iter().all(|(a, b)| std::sync::Arc::ptr_eq(&a.blocks, &b.blocks)));
}
