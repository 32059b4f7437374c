use std::sync::Arc;

use crate::message::content_block::{BlockKind, ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;

fn block(json: &str) -> ContentBlock {
    ContentBlock::new(RawJson::parse(json).unwrap())
}

fn other(name: &str) -> BlockKind {
    BlockKind::Other(Arc::from(name))
}

// spec: TRANSCRIPT-03
#[test]
fn blocks_are_read_and_kept() {
    let result = |id: &str| BlockKind::ToolResult { tool_use_id: Arc::from(id) };
    let rows = [
        (r#"{"type":"text","text":"hi"}"#, BlockKind::Text(Arc::from("hi"))),
        (
            r#"{"text":"hi","cache_control":{"type":"ephemeral"},"type":"text"}"#,
            BlockKind::Text(Arc::from("hi")),
        ),
        (r#"{"type":"text"}"#, other("text")),
        (r#"{"type":"text","text":null}"#, other("text")),
        (r#"{"type":"text","text":7}"#, other("text")),
        (r#"{"type":"tool_result","tool_use_id":"t1","content":"x"}"#, result("t1")),
        (r#"{"type":"tool_result","content":"x"}"#, other("tool_result")),
        (r#"{"type":"thinking","thinking":"hm","signature":"abc"}"#, other("thinking")),
        (r#"{"type":"hologram","x":{"deep":[1,2]}}"#, other("hologram")),
        (r#"{"type":"tool_use","id":"t1"}"#, other("tool_use")),
        (r#"{"type":"tool_use","name":"x","input":{}}"#, other("tool_use")),
        (r#"{"type":7}"#, other("unreadable")),
        (r#"{}"#, other("unreadable")),
        ("[]", other("unreadable")),
        (r#"["text","hi","a","b",{},"c"]"#, other("unreadable")),
        ("null", other("unreadable")),
        (r#"{"type":"text","type":"image"}"#, other("unreadable")),
    ];
    for (json, kind) in rows {
        let block = block(json);
        assert_eq!(block.kind(), &kind, "{json}");
        assert_eq!(serde_json::to_string(&block).unwrap(), json);
        assert_eq!(serde_json::from_str::<ContentBlock>(json).unwrap(), block);
    }
}

// spec: TRANSCRIPT-07
#[test]
fn a_tool_use_has_its_id_name_and_input_verbatim() {
    let rows = [
        (
            r#"{"type":"tool_use","id":" t 1","name":"read","input":{ "b":1, "a":2 }}"#,
            " t 1",
            r#"{ "b":1, "a":2 }"#,
        ),
        (r#"{"type":"tool_use","id":"","name":"read","input":[1]}"#, "", "[1]"),
        (r#"{"type":"tool_use","id":"\u05d0","name":"read","input":null}"#, "\u{5d0}", "null"),
        (r#"{"type":"tool_use","id":"t","name":"read"}"#, "t", "null"),
    ];
    for (json, id, input) in rows {
        let block = block(json);
        let call = block.as_tool_use().unwrap();
        assert_eq!((&*call.id, &*call.name, call.input.text()), (id, "read", input), "{json}");
    }
}

#[test]
fn lone_surrogates_read_as_one_replacement_each() {
    let rows = [
        (r#"{"type":"text","text":"a\ud800b"}"#, "a\u{fffd}b"),
        (r#"{"type":"text","text":"\udc00\ud800"}"#, "\u{fffd}\u{fffd}"),
        (r#"{"type":"text","text":"\ud83d\ude00\ud83d"}"#, "\u{1f600}\u{fffd}"),
    ];
    for (json, text) in rows {
        let block = block(json);
        assert_eq!(block.as_text(), Some(text), "{json}");
        assert_eq!(block.raw().text(), json);
    }
}

// spec: TRANSCRIPT-08
#[test]
fn a_result_says_is_error_only_when_it_is_one() {
    let fine = ContentBlock::tool_result("t1", &RawJson::string("ok"), ErrorFlag::Success);
    assert_eq!(fine.raw().text(), r#"{"type":"tool_result","tool_use_id":"t1","content":"ok"}"#);
    let bad = ContentBlock::tool_result("t1", &RawJson::string("no"), ErrorFlag::Error);
    assert_eq!(
        bad.raw().text(),
        r#"{"type":"tool_result","tool_use_id":"t1","content":"no","is_error":true}"#
    );
    assert_eq!(block(bad.raw().text()).kind(), bad.kind());
}

#[test]
fn built_blocks_read_as_what_they_are() {
    assert_eq!(ContentBlock::text("a\"b").kind(), block(r#"{"type":"text","text":"a\"b"}"#).kind());
    let call = ContentBlock::tool_use("t\"1", "read", &RawJson::parse("{}").unwrap());
    assert_eq!(&*call.as_tool_use().unwrap().id, "t\"1");
}

#[test]
fn thoughts_and_blanks_are_known() {
    assert!(block(r#"{"type":"thinking","thinking":""}"#).is_thinking());
    assert!(block(r#"{"type":"redacted_thinking","data":"x"}"#).is_thinking());
    assert!(!ContentBlock::text("thinking").is_thinking());
    for (text, blank) in [("", true), (" \n\t\u{a0}", true), ("x", false), ("\u{200b}", false)] {
        assert_eq!(ContentBlock::text(text).is_blank(), blank, "{text:?}");
    }
    assert!(!block(r#"{"type":"image"}"#).is_blank());
}

/// A call that is built from its parts equals the one that is parsed from its text.
#[test]
fn calls_are_made_as_they_are_read() {
    for (id, name) in [("t1", "read"), ("", ""), ("\"\n", "\u{fc}\u{1}\\")] {
        for input in ["{}", " {\"a\": 1}\n", "null", r#""\ud800""#, "[1]"] {
            let made = ContentBlock::tool_use(id, name, &RawJson::parse(input).unwrap());
            assert_eq!(block(made.raw().text()).kind(), made.kind(), "{made:?}");
        }
    }
}
