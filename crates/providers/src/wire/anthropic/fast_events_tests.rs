use std::borrow::Cow;

use super::fast_events::{DeltaKind, FastEvent, parse_fast_event};
use crate::json::object_fields::ObjectFields;

fn piece(data: &str) -> Option<(u64, DeltaKind, String, String)> {
    let FastEvent::Delta { index, of, piece } = parse_fast_event(data)? else { return None };
    Some((index, of, piece.escaped.to_owned(), piece.to_text().into_owned()))
}

fn start(block: &str) -> String {
    format!("{{\"type\":\"content_block_start\",\"index\":3,\"content_block\":{block}}}")
}

fn fields(data: &str) -> Option<Vec<(&str, &str)>> {
    let FastEvent::BlockStart { index: 3, block } = parse_fast_event(data)? else { return None };
    Some(block.fields().collect())
}

fn delta(inside: &str) -> String {
    format!("{{\"type\":\"content_block_delta\",\"index\":12,\"delta\":{{{inside}}}}}")
}

#[test]
fn usual_events_are_read() {
    let text = delta(r#""type":"text_delta","text":"Grüße""#);
    assert_eq!(piece(&text), Some((12, DeltaKind::Text, "Grüße".into(), "Grüße".into())));
    let escaped = delta(r#""type":"thinking_delta","thinking":"a\n\u00e9""#);
    assert_eq!(
        piece(&escaped),
        Some((12, DeltaKind::Thinking, r"a\n\u00e9".into(), "a\né".into()))
    );
    let input = delta(r#""type":"input_json_delta","partial_json":"{\"a\":""#);
    assert_eq!(
        piece(&input),
        Some((12, DeltaKind::Arguments, r#"{\"a\":"#.into(), "{\"a\":".into()))
    );
    let padded = text.replace("}}", "}     }");
    assert_eq!(piece(&padded), piece(&text));
    let stop = r#"{"type":"content_block_stop","index":0   }"#;
    assert!(matches!(parse_fast_event(stop), Some(FastEvent::BlockStop { index: 0 })));
    assert!(matches!(parse_fast_event(r#"{"type":"message_stop"}"#), Some(FastEvent::MessageStop)));
    assert!(matches!(
        parse_fast_event(r#"{"type":"message_stop"  }"#),
        Some(FastEvent::MessageStop)
    ));
}

#[test]
fn usual_blocks_are_split_into_their_fields() {
    let text = start(r#"{"type":"text","text":""}"#);
    assert_eq!(fields(&text), Some(vec![("type", "\"text\""), ("text", "\"\"")]));
    assert_eq!(fields(&text.replace("}}", "}   }")), fields(&text));
    let call = start(r#"{"type":"tool_use","id":"ü,1","name":"Read","input":{}}"#);
    let split =
        [("type", "\"tool_use\""), ("id", "\"ü,1\""), ("name", "\"Read\""), ("input", "{}")];
    assert_eq!(fields(&call), Some(split.to_vec()));
}

/// No field is dropped that the parser would keep: a key that occurs twice is there twice.
#[test]
fn fields_are_those_that_the_parser_finds() {
    let blocks = [
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        r#"{"text":"b","type":"text","text":"a"}"#,
        r#"{"":"","x":{}}"#,
    ];
    for block in blocks {
        let ObjectFields(parsed) = serde_json::from_str(block).unwrap();
        let parsed = parsed.iter().map(|(key, value)| (key.as_ref(), value.get()));
        assert_eq!(fields(&start(block)), Some(parsed.collect()), "{block}");
    }
}

#[test]
fn whatever_is_in_doubt_is_left_to_the_parser() {
    let doubtful = [
        start(r#"{}"#),
        start(r#"{"type":"text","text":"a\n"}"#),
        start(r#"{"type":"text", "text":"a"}"#),
        start(r#"{"type":"text","text":{"a":1}}"#),
        start(r#"{"type":"text","text":null}"#),
        start(r#"{"a":"","b":"","c":"","d":"","e":""}"#),
        delta(r#""type":"text_delta","text":"a","text":"b""#),
        delta(r#""type":"text_delta","text":"a"b""#),
        delta(r#""type":"text_delta","text":"a\x""#),
        delta(r#""type":"text_delta","text":"\ud83d""#),
        delta("\"type\":\"text_delta\",\"text\":\"a\u{1}\""),
        delta(r#""type":"text_delta","text":7"#),
        delta(r#""type":"text_delta", "text":"a""#),
        delta(r#""type":"citations_delta","citation":{}"#),
        delta(r#""type":"text_delta","text":"a""#).replace("12", "012"),
        delta(r#""type":"text_delta","text":"a""#).replace("12", "99999999999999999999"),
        delta(r#""type":"text_delta","text":"a""#) + "}",
        r#"{"type":"content_block_stop","index":0,"more":1}"#.to_owned(),
        r#"{"type":"content_block_stop","index":-1}"#.to_owned(),
        start(r#"{"type":"text","text":"a",}"#),
        start(r#"{"type":"text","text":"a"}}"#),
        start(r#"{"type":"text","text":"a""#),
        start(r#"{"t\u0079pe":"text"}"#),
        start("{\"type\":\"a\u{1}\"}"),
        start(r#"["type","text"]"#),
        start(r#"{"type":"text"},"index":4"#),
        r#"{"type":"message_stop","more":1}"#.to_owned(),
        r#"{"type":"message_stop""#.to_owned(),
        r#"{"type":"ping"}"#.to_owned(),
        String::new(),
    ];
    for data in doubtful {
        assert!(parse_fast_event(&data).is_none(), "{data}");
    }
}

/// Text without escapes is not copied.
#[test]
fn plain_text_is_borrowed() {
    let data = delta(r#""type":"text_delta","text":"plain""#);
    let Some(FastEvent::Delta { piece, .. }) = parse_fast_event(&data) else { panic!() };
    assert!(matches!(piece.to_text(), Cow::Borrowed("plain")));
}

/// Escapes are decoded as the parser decodes them.
#[test]
fn escapes_mean_what_they_mean_to_the_parser() {
    let pieces = [
        r#"\"\\\/\n\r\t\b\f"#,
        r#"{\"path\": \"a\\nb\"}"#,
        r"grüß\tdich",
        r"\u00e9\ud83d\ude00 and \n",
        r"\\u0041",
        r"a\\",
    ];
    for escaped in pieces {
        let data = delta(&format!(r#""type":"text_delta","text":"{escaped}""#));
        let parsed: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
        assert_eq!(
            piece(&data),
            Some((12, DeltaKind::Text, escaped.to_owned(), parsed)),
            "{escaped}"
        );
    }
    for broken in [r"\x", r"\u12", r"\ud800", "a\nb", r#"a"b"#, "a\\"] {
        let data = delta(&format!("\"type\":\"text_delta\",\"text\":\"{broken}\""));
        assert_eq!(piece(&data), None, "{broken}");
    }
}
