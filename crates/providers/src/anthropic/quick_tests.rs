use std::borrow::Cow;

use super::quick::{Of, Quick, read};

fn piece(data: &str) -> Option<(u64, Of, String, String)> {
    match read(data)? {
        Quick::Piece { index, of, piece } => {
            Some((index, of, piece.escaped.to_owned(), piece.text.into_owned()))
        }
        Quick::Stop { .. } => None,
    }
}

fn delta(inside: &str) -> String {
    format!("{{\"type\":\"content_block_delta\",\"index\":12,\"delta\":{{{inside}}}}}")
}

#[test]
fn usual_events_are_read() {
    let text = delta(r#""type":"text_delta","text":"Grüße""#);
    assert_eq!(piece(&text), Some((12, Of::Text, "Grüße".into(), "Grüße".into())));
    let escaped = delta(r#""type":"thinking_delta","thinking":"a\n\u00e9""#);
    assert_eq!(piece(&escaped), Some((12, Of::Thinking, r"a\n\u00e9".into(), "a\né".into())));
    let input = delta(r#""type":"input_json_delta","partial_json":"{\"a\":""#);
    assert_eq!(piece(&input), Some((12, Of::Arguments, r#"{\"a\":"#.into(), "{\"a\":".into())));
    let padded = text.replace("}}", "}     }");
    assert_eq!(piece(&padded), piece(&text));
    let stop = r#"{"type":"content_block_stop","index":0   }"#;
    assert_eq!(read(stop), Some(Quick::Stop { index: 0 }));
}

#[test]
fn whatever_is_in_doubt_is_left_to_the_parser() {
    let doubtful = [
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
        r#"{"type":"ping"}"#.to_owned(),
        String::new(),
    ];
    for data in doubtful {
        assert_eq!(read(&data), None, "{data}");
    }
}

/// Text without escapes is not copied.
#[test]
fn plain_text_is_borrowed() {
    let data = delta(r#""type":"text_delta","text":"plain""#);
    let Some(Quick::Piece { piece, .. }) = read(&data) else { panic!() };
    assert!(matches!(piece.text, Cow::Borrowed("plain")));
}
