//! What survives a compaction: instructions, requests, the journal, and the latest tool results.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::record::Record;
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};

use crate::kit::{Lane, call, calls, page, paid_only, summed_up, text};

/// The segments of a kind, as they are sent.
fn parts(lane: &Lane, part: SegmentKind) -> Vec<TranscriptSegment> {
    lane.live.transcript.segments().iter().filter(|s| s.kind == part).cloned().collect()
}

/// Returns the segments and the hash that the last compaction recorded.
fn kept(lane: &Lane) -> (Vec<u64>, String) {
    let found = lane.last.iter().find_map(|record| match record {
        Record::Compacted { kept_segments, kept_hash, .. } => {
            Some((kept_segments.clone(), kept_hash.as_ref().unwrap().to_string()))
        }
        _ => None,
    });
    found.expect("nothing was compacted")
}

// spec: GUARDS-01
#[test]
fn as_many_messages_stay_as_the_settings_say_also_more_than_ten() {
    let kept = |kept_messages: u32| {
        let lane = Lane::with(|settings| {
            paid_only(settings);
            settings.limits.kept_messages = kept_messages;
        });
        let lane = lane.prompt("go").fills(0..40, 1_000).compact().reads(40, 10);
        assert_eq!(lane.count("compacted"), 1);
        lane.live.transcript.segments().len()
    };
    assert!(kept(4) < kept(10) && kept(10) < kept(30), "{} {} {}", kept(4), kept(10), kept(30));
}

#[test]
fn instructions_and_the_request_stay_byte_for_byte_and_are_checked_by_hash() {
    let rules = "Never push to main.\n\tTabs stay, \u{5e9}\u{5b8} too.  ";
    let lane = Lane::with(summed_up).remember(rules).prompt("haul the \"big\" one");
    let lane = lane.fills(0..2, 6_000).remember("Use nextest.").fills(2..9, 6_000);
    let (memory, prompts) = (parts(&lane, SegmentKind::Memory), parts(&lane, SegmentKind::Prompt));
    assert_eq!((memory.len(), prompts.len()), (2, 1));
    lane.consults("summary").summary("hauled").so(|lane| {
        assert_eq!(parts(lane, SegmentKind::Memory), memory);
        assert_eq!(parts(lane, SegmentKind::Prompt), prompts);
        let (places, hash) = kept(lane);
        let now: Vec<usize> = (1..=places.len()).collect();
        assert_eq!(places.len(), 3);
        assert_eq!(lane.live.transcript.hash_segments(&now), hash);
    });
}

#[test]
fn everything_people_said_in_the_run_is_kept_and_what_they_said_before_is_not() {
    let lane =
        Lane::with(summed_up).prompt("an old request").says(text("done")).prompt("a new one");
    let lane = lane.fills(0..2, 6_000).steer("in French").fills(2..9, 6_000).summary("so far");
    lane.hides("an old request").tells("a new one").tells("in French");
}

// spec: WINDOW-22
#[test]
fn memory_is_read_after_the_round_and_after_its_results() {
    Lane::new()
        .prompt("go")
        .says(calls([call("t1", "read", "/a")]))
        .remember("Use tabs.")
        .records("instructions_added")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | Use tabs.")
        .remember(" \n")
        .command_rejected("empty_instructions");
    let full = Lane::with(|settings| settings.limits.waiting_steers = 1).prompt("go");
    full.remember("one").remember("two").command_rejected("too_many_instructions");
}

// spec: WINDOW-22
#[test]
fn context_of_a_tool_result_is_added_once_after_the_round() {
    let tabs = ("memory:/a/CLAUDE.md", "Use tabs.");
    let lane = Lane::new()
        .prompt("go")
        .says(calls([call("t1", "read", "/a/x"), call("t2", "read", "/a/y")]))
        .returns_with_context(0, &[tabs, ("memory:/a/b/CLAUDE.md", " ")])
        .records("tool_context_added call_returned result_finalized")
        .returns_with_context(1, &[tabs, ("memory:/a/c/CLAUDE.md", "Use spaces.")])
        .shows_last("user: <t1 ok: done> | <t2 ok: done> | Use tabs. | Use spaces.");
    let lane = lane.says(calls([call("t3", "read", "/a/x")])).returns_with_context(0, &[tabs]);
    lane.shows_last("user: <t3 ok: done>");
    let full = Lane::with(|settings| settings.limits.waiting_steers = 1).prompt("go");
    let full = full.says(calls([call("t1", "read", "/a/x")]));
    full.returns_with_context(0, &[tabs, ("memory:/b", "Later.")]).hides("Later.");
}

// spec: WINDOW-16
#[test]
fn the_latest_successful_result_of_each_tool_is_pinned_as_text() {
    let lane = Lane::with(summed_up).prompt("go");
    let lane = lane.says(calls([call("f1", "fetch", "/x")])).returns(0, "the port is 8080");
    let lane = lane.says(calls([call("f2", "fetch", "/y")])).returns(0, "the port is 9090");
    let broken = ToolError::new("http_500", "no port at all", "later");
    let lane = lane.says(calls([call("f3", "fetch", "/z")])).errs(0, broken);
    let lane = lane.says(calls([call("b1", "bash", "make")])).returns(0, "42 tests passed");
    let lane = lane.fills(0..9, 6_000).summary("working");
    let lane = lane.tells("Last result of fetch:\nthe port is 9090");
    let lane = lane.tells("Last result of bash:\n42 tests passed");
    let lane = lane.hides("the port is 8080").hides("no port at all");
    lane.so(|lane| assert_eq!(parts(lane, SegmentKind::Summary).len(), 1))
        // They stay pinned through the next compaction, until the tool succeeds again.
        .fills(9..13, 6_000)
        .summary("still working")
        .tells("Last result of fetch:\nthe port is 9090")
        .hides("working\n\nLast result of fetch:\nthe port is 8080");
}

#[test]
fn without_a_new_summary_the_one_before_is_carried_on() {
    let lane =
        Lane::with(summed_up).prompt("go").fills(0..9, 6_000).summary("the key is under the mat");
    let failed = windlass_core::run::review::ReviewResult::Failed {
        why: "down".into(),
        usage: windlass_core::message::reply::TokenUsage::default(),
    };
    lane.fills(9..13, 6_000).review_returned(failed).tells("the key is under the mat");
}

#[test]
fn pins_give_way_when_there_is_no_room_for_them() {
    let lane = Lane::with(|settings| {
        paid_only(settings);
        settings.model.window_tokens = 3_000;
        settings.model.max_tokens = 100;
    });
    let mut lane = lane.prompt("go");
    for tool in ["read", "fetch", "bash", "send", "write", "upload"] {
        lane = lane.says(calls([call(tool, tool, "/x")])).returns(0, &page(1, 1_200));
    }
    lane.so(|lane| assert!(lane.count("compacted") > 0)).hides("Last result of");
}

// spec: JOURNAL-04, JOURNAL-05
#[test]
fn the_journal_is_shown_again_right_after_the_summary() {
    let lane = Lane::with(summed_up).prompt("go");
    let lane = lane.says(calls([call("n1", "note", "objective: haul it up")]));
    let lane = lane.says(calls([call("n2", "note", "decisions+ by hand, because it is safer")]));
    let lane = lane.fills(0..9, 6_000).summary("so far");
    lane.so(|lane| {
        let segments = lane.live.transcript.segments();
        let order: Vec<SegmentKind> = segments.iter().take(4).map(|segment| segment.kind).collect();
        assert_eq!(
            order,
            [SegmentKind::Summary, SegmentKind::Journal, SegmentKind::Journal, SegmentKind::Prompt]
        );
        assert_eq!(lane.live.shown_journal_version, lane.live.journal.version());
        assert!(lane.live.journal_digest.contains("Objective: haul it up"));
    })
    .tells("## Decisions\n- #1 by hand, because it is safer");
}

// spec: WINDOW-07
#[test]
fn a_compaction_is_one_step_for_a_reader_of_the_log() {
    let lane = Lane::with(summed_up).prompt("go").fills(0..9, 6_000);
    let before = lane.live.transcript.clone();
    let after = lane.clone().summary("so far");
    // Until the entry is stored the old view applies, then the new one.
    assert_eq!(lane.crash().live.transcript, before);
    assert_eq!(after.clone().crash().live.transcript, after.live.transcript);
}

// spec: WINDOW-06
#[test]
fn within_a_generation_only_the_end_grows() {
    let lane = Lane::with(summed_up).prompt("go").fills(0..9, 6_000).summary("so far");
    let one = lane.live.transcript.clone();
    let lane = lane.fills(9..11, 1_000).steer("hm").reads(11, 10);
    let two = lane.live.transcript.clone();
    assert_eq!(one.generation(), two.generation());
    let same = one.segments().iter().zip(two.segments().iter()).all(|(a, b)| a == b);
    assert!(same && two.segments().len() > one.segments().len());
}
