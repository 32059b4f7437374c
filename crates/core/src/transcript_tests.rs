use crate::audit::audit;
use crate::block::{Block, ErrorFlag};
use crate::raw::Raw;
use crate::request::messages;
use crate::transcript::{Part, Transcript};

fn call(id: &str) -> Block {
    Block::tool_use(id, "read", &Raw::parse("{}").unwrap())
}

fn result(id: &str) -> Block {
    Block::tool_result(id, &Raw::string("ok"), ErrorFlag::Fine)
}

fn thought() -> Block {
    Block::new(Raw::parse(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#).unwrap())
}

fn prompted() -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text("hi")]);
    transcript
}

fn parts(transcript: &Transcript) -> String {
    let letter = |part| match part {
        Part::Prompt => 'p',
        Part::Memory => 'm',
        Part::Note => 'n',
        Part::Summary => 's',
        Part::Journal => 'j',
        Part::Reply => 'a',
        Part::Results => 'r',
    };
    transcript.segments().iter().map(|segment| letter(segment.part)).collect()
}

/// `rounds` rounds after a prompt: `p ar ar …`, with a prompt in between every fifth.
fn long(rounds: usize) -> Transcript {
    let mut transcript = prompted();
    for round in 0..rounds {
        transcript.push_round(&[call("t")], vec![result("t")]).unwrap();
        if round % 5 == 4 {
            transcript.push_reply(&[Block::text("so far")]);
            transcript.push_prompt(&[Block::text("go on")]);
        }
    }
    transcript
}

// spec: TRANSCRIPT-04, TRANSCRIPT-05
#[test]
fn a_round_needs_a_result_for_every_call_in_order() {
    let rows: [(Vec<Block>, Vec<Block>, bool); 9] = [
        (vec![call("a")], vec![result("a")], true),
        (vec![call("a"), call("b")], vec![result("a"), result("b")], true),
        (vec![Block::text("x"), call("a"), Block::text("y")], vec![result("a")], true),
        (vec![call("a"), call("b")], vec![result("b"), result("a")], false),
        (vec![call("a"), call("b")], vec![result("a")], false),
        (vec![call("a")], vec![result("a"), result("b")], false),
        (vec![call("a")], vec![result("b")], false),
        (vec![call("a")], vec![Block::text("ok")], false),
        (vec![call("a"), call("a")], vec![result("a"), result("a")], false),
    ];
    for (reply, results, fits) in rows {
        let mut transcript = prompted();
        let before = transcript.clone();
        assert_eq!(transcript.push_round(&reply, results).is_ok(), fits, "{reply:?}");
        if fits {
            assert_eq!(audit(&messages(transcript.segments().iter())), Ok(()));
        } else {
            assert_eq!(transcript, before, "a round that does not fit leaves no trace");
        }
    }
}

#[test]
fn nothing_begins_with_the_model() {
    let mut transcript = Transcript::default();
    transcript.push_reply(&[Block::text("hello")]);
    assert!(transcript.push_round(&[call("a")], vec![result("a")]).is_err());
    assert!(transcript.segments().is_empty() && !transcript.is_askable());
}

#[test]
fn blank_and_foreign_blocks_are_left_out() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text(" "), call("a"), result("a")]);
    transcript.push_note("");
    assert!(transcript.segments().is_empty());
    transcript.push_prompt(&[Block::text(""), Block::text("hi")]);
    transcript.push_reply(&[Block::text("\n"), call("a"), Block::text("yes"), result("b")]);
    transcript.push_round(&[Block::text(" "), result("x"), call("a")], vec![result("a")]).unwrap();
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
    transcript.push_reply(&[thought(), Block::text("so"), thought()]);
    assert_eq!(transcript.segments()[3].blocks.len(), 2);
}

#[test]
fn arguments_that_are_no_object_are_not_sent() {
    let mut transcript = prompted();
    let odd = Block::tool_use("a", "read", &Raw::parse("[1]").unwrap());
    transcript.push_round(&[odd], vec![result("a")]).unwrap();
    let sent = transcript.segments()[1].blocks[0].raw().text();
    assert_eq!(sent, r#"{"type":"tool_use","id":"a","name":"read","input":{}}"#);
}

#[test]
fn bytes_are_counted_as_they_come() {
    let transcript = long(7);
    let blocks = transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
    let bytes: usize = blocks.map(|block| block.raw().text().len()).sum();
    assert_eq!(transcript.bytes(), bytes as u64);
    let mut compacted = transcript;
    compacted.compact(5, "left out", &[], "");
    let blocks = compacted.segments().iter().flat_map(|segment| segment.blocks.iter());
    let bytes: usize = blocks.map(|block| block.raw().text().len()).sum();
    assert_eq!(compacted.bytes(), bytes as u64);
}

#[test]
fn a_cut_never_parts_a_call_from_its_result() {
    for rounds in 0..30 {
        let transcript = long(rounds);
        for keep in 0..20 {
            let Some(cut) = transcript.cut_point(keep) else { continue };
            let first = transcript.segments().get(cut).map(|segment| segment.part);
            assert_ne!(first, Some(Part::Results), "{rounds} rounds, keep {keep}");
            let kept = messages(transcript.segments().iter().skip(cut)).len();
            assert!(kept >= keep as usize, "{rounds} rounds, keep {keep}: {kept}");
            let mut compacted = transcript.clone();
            compacted.compact(cut, "left out", &[], "");
            assert_eq!(audit(&messages(compacted.segments().iter())), Ok(()));
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
