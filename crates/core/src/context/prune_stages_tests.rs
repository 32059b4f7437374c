use super::prune_stages::PruneStage;
use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::request::join_segments;
use crate::message::request_check::check_messages;
use crate::message::transcript::{SegmentKind, Transcript};

fn call(id: &str, on: &str) -> ContentBlock {
    ContentBlock::tool_use(id, "read", &RawJson::parse(format!(r#"{{"on":"{on}"}}"#)).unwrap())
}

fn result(id: &str, text: &str) -> ContentBlock {
    ContentBlock::tool_result(id, &RawJson::string(text), ErrorFlag::Success)
}

fn thought() -> ContentBlock {
    ContentBlock::new(
        RawJson::parse(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#).unwrap(),
    )
}

fn round(transcript: &mut Transcript, id: &str, on: &str, text: &str) {
    transcript.push_round(&[thought(), call(id, on)], vec![result(id, text)]).unwrap();
}

fn parts(transcript: &Transcript) -> Vec<SegmentKind> {
    transcript.segments().iter().map(|segment| segment.kind).collect()
}

fn acted(stage: PruneStage, transcript: &Transcript, keep_from: usize) -> Transcript {
    let mut changed = transcript.clone();
    changed.rewrite(&stage.propose_rewrites(transcript, keep_from, 100));
    assert_eq!(check_messages(&join_segments(changed.segments().iter())), Ok(()));
    // Acting twice changes nothing more.
    let tail = transcript.segments().len().saturating_sub(keep_from);
    assert_eq!(
        stage.propose_rewrites(&changed, changed.segments().len().saturating_sub(tail), 100),
        []
    );
    changed
}

#[test]
fn snip_takes_thoughts_and_notes_but_nothing_that_keeps_replies_apart() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("go")]);
    round(&mut transcript, "t1", "/a", "A");
    transcript.push_note("try something else");
    transcript.push_reply(&[ContentBlock::text("half")]);
    transcript.push_note("go on");
    transcript.push_reply(&[ContentBlock::text("whole")]);
    use SegmentKind::{Note, Prompt, Reply, Results};
    let after = acted(PruneStage::Snip, &transcript, 7);
    assert_eq!(parts(&after), [Prompt, Reply, Results, Reply, Note, Reply]);
    assert_eq!(after.thinking_removals(), []);
    assert!(after.byte_count() < transcript.byte_count());
}

#[test]
fn snip_never_makes_a_reply_the_first() {
    let mut transcript = Transcript::default();
    transcript.push_note("[the conversation starts with a reply]");
    transcript.push_reply(&[ContentBlock::text("hello")]);
    transcript.push_prompt(&[ContentBlock::text("go")]);
    assert_eq!(acted(PruneStage::Snip, &transcript, 3), {
        let mut same = transcript.clone();
        same.rewrite(&[]);
        same
    });
}

#[test]
fn snip_keeps_summary_memory_and_the_last_journal() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("go")]);
    transcript.compact(1, "what was before", &[], "");
    transcript.push_memory("Never push.");
    transcript.push_journal("journal one");
    transcript.push_prompt(&[ContentBlock::text("more")]);
    transcript.push_journal("journal two");
    transcript.push_prompt(&[ContentBlock::text("and more")]);
    use SegmentKind::{Journal, Memory, Prompt, Summary};
    let after = acted(PruneStage::Snip, &transcript, 8);
    assert_eq!(parts(&after), [Summary, Memory, Prompt, Journal, Journal, Prompt]);
    // A pair that the cut would split stays.
    let few = acted(PruneStage::Snip, &transcript, 3);
    assert_eq!(parts(&few).len(), 8);
}

#[test]
fn micro_cuts_old_results_in_any_script_and_only_once() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("go")]);
    round(&mut transcript, "t1", "/a", &"x".repeat(5_000));
    round(&mut transcript, "t2", "/b", &"שָ".repeat(3_000));
    round(&mut transcript, "t3", "/c", "short");
    round(&mut transcript, "t4", "/d", &"y".repeat(5_000));
    let after = acted(PruneStage::Micro, &transcript, 7);
    let all = format!("{after:?}");
    assert_eq!(all.matches("characters omitted").count(), 2);
    assert!(all.contains(&"y".repeat(5_000)), "the tail stays");
}

#[test]
fn collapse_leaves_the_latest_of_equal_calls() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("go")]);
    round(&mut transcript, "t1", "/a", &"old ".repeat(50));
    round(&mut transcript, "t2", "/b", &"other ".repeat(50));
    round(&mut transcript, "t3", "/a", &"new ".repeat(50));
    let after = format!("{:?}", acted(PruneStage::Collapse, &transcript, 6));
    assert!(
        !after.contains("old old") && after.contains("other other") && after.contains("new new")
    );
    assert_eq!(PruneStage::Auto.propose_rewrites(&transcript, 6, 100), []);
}

#[test]
fn stages_have_names() {
    let names = [PruneStage::Snip, PruneStage::Micro, PruneStage::Collapse, PruneStage::Auto]
        .map(PruneStage::name);
    assert_eq!(names, ["snip", "micro", "collapse", "auto"]);
}

/// So many rounds, with messages of users and notes of the runtime among them.
fn long(rounds: usize) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("the first thing")]);
    transcript.push_memory("Never push.");
    transcript.push_reply(&[ContentBlock::text("an early half")]);
    transcript.push_note("go on");
    for nth in 0..rounds {
        round(&mut transcript, &format!("t{nth}"), "/a", &format!("result {nth}."));
    }
    transcript.push_prompt(&[ContentBlock::text("the last thing")]);
    transcript
}

// spec: WINDOW-04
#[test]
fn snip_drops_whole_turns_beyond_the_sliding_window() {
    let transcript = long(80);
    let after = acted(PruneStage::Snip, &transcript, transcript.segments().len());
    let output = format!("{after:?}");
    assert!(output.contains("the first thing") && output.contains("Never push."));
    assert!(!output.contains("an early half") && !output.contains("result 29."));
    assert!(output.contains("result 30.") && output.contains("result 79."));
    assert_eq!(join_segments(after.segments().iter()).len(), 1 + 100);
    // What is inside the window keeps its turns, and the tail is never touched.
    let short = long(40);
    let kept = acted(PruneStage::Snip, &short, short.segments().len());
    assert!(format!("{kept:?}").contains("result 0."));
    assert!(format!("{:?}", acted(PruneStage::Snip, &transcript, 10)).contains("result 3."));
}

// spec: WINDOW-04
#[test]
fn no_pair_is_cut_wherever_the_window_falls() {
    for rounds in 49..53 {
        for keep_from in (0..=long(rounds).segments().len()).step_by(3) {
            acted(PruneStage::Snip, &long(rounds), keep_from);
        }
    }
}
