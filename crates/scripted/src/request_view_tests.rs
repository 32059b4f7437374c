use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::transcript::Transcript;

use super::fixture_tests::{call, prompted, request, result};
use super::request_view::OwnedRequestView;

/// `ask`, the user's text and every result as `tool: text`, with `!` before errors.
fn seen(transcript: Transcript) -> (u32, String, Vec<String>) {
    OwnedRequestView::from_request(&request(transcript)).with_view(|view| {
        let mark = |is_error| if is_error { "!" } else { "" };
        let results = view.results.iter();
        let results = results.map(|r| format!("{}{}: {}", mark(r.is_error), r.tool, r.text));
        (view.ask, view.last_user_text.to_owned(), results.collect())
    })
}

#[test]
fn a_prompt_is_the_first_ask() {
    assert_eq!(seen(prompted("go")), (1, "go".to_owned(), vec![]));
}

#[test]
fn nothing_at_all_is_seen_as_nothing() {
    assert_eq!(seen(Transcript::default()), (1, String::new(), vec![]));
}

#[test]
fn tools_on_offer_are_seen_by_name() {
    let view = OwnedRequestView::from_request(&request(prompted("go")));
    assert!(view.with_view(|seen| seen.tools == ["Read", "Bash"]));
}

#[test]
fn results_come_with_their_tools() {
    let mut transcript = prompted("go");
    let refused = ContentBlock::tool_result("b", &RawJson::string("no"), ErrorFlag::Error);
    let reply = [ContentBlock::text("looking"), call("a", "Read"), call("b", "Bash")];
    transcript.push_round(&reply, vec![result("a", "42"), refused]).unwrap();
    let results = vec!["Read: 42".to_owned(), "!Bash: no".to_owned()];
    assert_eq!(seen(transcript), (2, "go".to_owned(), results));
}

#[test]
fn content_in_blocks_reads_as_its_texts() {
    let mut transcript = prompted("go");
    let blocks = r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#;
    let odd = r#"{"neither": "string nor list"}"#;
    let lone = r#""lone \ud800 surrogate""#;
    let result = |id: &str, json: &str| {
        ContentBlock::tool_result(id, &RawJson::parse(json).unwrap(), ErrorFlag::Success)
    };
    let reply = [call("1", "Read"), call("2", "Read"), call("3", "Read")];
    let results = vec![result("1", blocks), result("2", odd), result("3", lone)];
    transcript.push_round(&reply, results).unwrap();
    let texts = ["Read: a\nb".to_owned(), format!("Read: {odd}"), format!("Read: {lone}")];
    assert_eq!(seen(transcript).2, texts);
}

#[test]
fn a_note_after_results_is_a_text_beside_them() {
    let mut transcript = prompted("go");
    transcript.push_round(&[call("a", "Read")], vec![result("a", "42")]).unwrap();
    transcript.push_note("one round left");
    let results = vec!["Read: 42".to_owned()];
    assert_eq!(seen(transcript), (2, "one round left".to_owned(), results));
}

#[test]
fn a_prompt_after_results_is_a_prompt() {
    let mut transcript = prompted("go");
    transcript.push_round(&[call("a", "Read")], vec![result("a", "42")]).unwrap();
    transcript.push_prompt(&[ContentBlock::text("something"), ContentBlock::text("else")]);
    assert_eq!(seen(transcript), (2, "something\nelse".to_owned(), vec![]));
}

#[test]
fn every_reply_counts_also_neighbours() {
    let mut transcript = prompted("go");
    transcript.push_reply(&[ContentBlock::text("first half")]);
    transcript.push_reply(&[ContentBlock::text("second half")]);
    transcript.push_prompt(&[ContentBlock::text("more")]);
    assert_eq!(seen(transcript), (3, "more".to_owned(), vec![]));
}
