use serde_json::Value;

use super::JoinedDelta;

fn text_delta(index: u64, escaped: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{escaped}"}}}}"#
    )
}

fn joined(events: &[String]) -> Option<Value> {
    let mut deltas = events.iter().map(|event| JoinedDelta::parse(event));
    let mut first = deltas.next()??;
    for delta in deltas {
        if !first.append(&delta?) {
            return None;
        }
    }
    Some(serde_json::from_str(&first.to_event()).unwrap())
}

#[test]
fn deltas_of_a_block_become_one_event() {
    let event = joined(&[text_delta(3, "a\\n\\\""), text_delta(3, "\u{e9}"), text_delta(3, "")]);
    let expected = serde_json::json!({
        "type": "content_block_delta",
        "index": 3,
        "delta": {"type": "text_delta", "text": "a\n\"\u{e9}"},
    });
    assert_eq!(event, Some(expected));
}

#[test]
fn a_pair_of_surrogates_that_was_split_becomes_whole() {
    let event = joined(&[text_delta(0, "\\ud83d"), text_delta(0, "\\ude00")]).unwrap();
    assert_eq!(event["delta"]["text"], "\u{1f600}");
}

#[test]
fn the_other_kinds_are_joined_too() {
    for (kind, field) in [("thinking_delta", "thinking"), ("input_json_delta", "partial_json")] {
        let event = format!(
            r#"{{ "delta":{{"{field}":"{{\"a\":","type":"{kind}"}}, "index":1, "type":"content_block_delta"}}"#
        );
        let both = joined(&[event.clone(), event]).unwrap();
        assert_eq!(both["delta"][field], "{\"a\":{\"a\":", "{kind}");
    }
}

#[test]
fn what_does_not_belong_together_is_not_joined() {
    let thinking = r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}"#;
    assert_eq!(joined(&[text_delta(0, "a"), text_delta(1, "b")]), None);
    assert_eq!(joined(&[text_delta(0, "a"), thinking.to_owned()]), None);
    for event in [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","new":1}}"#,
        r#"{"type":"content_block_delta","index":0,"new":1,"delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":null}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_stop"}"#,
        "not JSON",
    ] {
        assert_eq!(JoinedDelta::parse(event), None, "{event}");
    }
}
