use super::pinned_results::pin_latest_results;
use super::recovery_ladder::RecoveryStep;
use super::render::{compaction_notes, render_history};
use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::transcript::Transcript;

fn transcript() -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("find the port")]);
    for (nth, (tool, text, flag)) in [
        ("read", "8080", ErrorFlag::Success),
        ("read", "9090", ErrorFlag::Success),
        ("read", "no such file", ErrorFlag::Error),
        ("bash", "", ErrorFlag::Success),
        ("list", r#"[{"type":"text","text":"a.rs"}]"#, ErrorFlag::Success),
    ]
    .into_iter()
    .enumerate()
    {
        let id = nth.to_string();
        let content = RawJson::parse(text).ok().filter(|_| text.starts_with('['));
        let content = content.unwrap_or_else(|| RawJson::string(text));
        let call = ContentBlock::tool_use(&id, tool, &RawJson::parse("{}").unwrap());
        transcript
            .push_round(&[call], vec![ContentBlock::tool_result(&id, &content, flag)])
            .unwrap();
    }
    transcript
}

// spec: WINDOW-16
#[test]
fn the_newest_success_of_each_tool_is_pinned() {
    let transcript = transcript();
    let pinned = pin_latest_results(transcript.segments().iter());
    assert_eq!(
        pinned,
        [
            "Last result of list:\n[{\"type\":\"text\",\"text\":\"a.rs\"}]",
            "Last result of read:\n9090"
        ]
    );
}

#[test]
fn pins_are_bounded_in_number_and_length() {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("go")]);
    for nth in 0..50 {
        let (id, tool) = (format!("t{nth}"), format!("tool{nth}"));
        let call = ContentBlock::tool_use(&id, &tool, &RawJson::parse("{}").unwrap());
        let result = ContentBlock::tool_result(
            &id,
            &RawJson::string(&"x".repeat(9_000)),
            ErrorFlag::Success,
        );
        transcript.push_round(&[call], vec![result]).unwrap();
    }
    let pinned = pin_latest_results(transcript.segments().iter());
    assert_eq!(pinned.len(), 20);
    assert!(pinned.iter().all(|pin| pin.len() < 2_200));
}

#[test]
fn notes_go_from_full_to_bare() {
    let transcript = transcript();
    let [full, summed, bare] = compaction_notes(
        RecoveryStep::Compact,
        Some(" the port is 9090 "),
        transcript.segments().iter(),
    );
    assert!(full.starts_with(&summed) && full.contains("Last result of read:\n9090"));
    assert!(summed.starts_with("[summary of") && summed.ends_with("the port is 9090"));
    assert!(bare.ends_with("[11 earlier parts of this conversation were removed by compaction]"));
    let [_, _, deep] =
        compaction_notes(RecoveryStep::DeepPrune, None, transcript.segments().iter());
    assert!(deep.starts_with("[deep prune: summary of"));
}

#[test]
fn pins_and_summaries_outlive_the_next_compaction() {
    let mut transcript = transcript();
    let [full, ..] =
        compaction_notes(RecoveryStep::Compact, Some("it was foggy"), transcript.segments().iter());
    transcript.compact(11, &full, &[], "");
    transcript.push_prompt(&[ContentBlock::text("more")]);
    let [again, without, _] =
        compaction_notes(RecoveryStep::DeepPrune, None, transcript.segments().iter());
    assert!(without.contains("it was foggy") && !without.contains("Last result of"));
    assert!(again.contains("Last result of read:\n9090"));
    let [new, ..] =
        compaction_notes(RecoveryStep::DeepPrune, Some("newer"), transcript.segments().iter());
    assert!(!new.contains("foggy") && new.contains("Last result of read:\n9090"));
}

#[test]
fn old_messages_are_told_by_who_said_them_and_cut() {
    let mut transcript = transcript();
    transcript.push_journal("# Run journal");
    transcript.push_memory("Never push.");
    let text = render_history(transcript.segments().iter(), 10_000);
    assert!(
        text.starts_with("user: find the port\nassistant: calls read with {}\nresults: "),
        "{text}"
    );
    assert!(text.contains("runtime: Never push.") && !text.contains("Run journal"));
    assert!(render_history(transcript.segments().iter(), 50).chars().count() < 120);
}
