//! Nested front matter, as people write it.

use serde_json::{Value, json};

use super::{parse_block, parse_scalar};

fn parse(text: &str) -> Result<Value, String> {
    parse_block(&text.lines().map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn tables_and_lists_follow_the_indentation() {
    let text = "  PreToolUse:\n    - matcher: \"Edit|Write\"\n      hooks:\n        - type: command\n          command: \"./check.sh $X\"  \n          timeout: 5\n    - hooks:\n      - type: prompt\n        prompt: >\n          is this\n          safe\n        once: true\n  # the end\n  Stop: []";
    let expected = json!({
        "PreToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "./check.sh $X", "timeout": 5}]},
            {"hooks": [{"type": "prompt", "prompt": "is this safe", "once": true}]},
        ],
        "Stop": [],
    });
    assert_eq!(parse(text), Ok(expected));
    assert_eq!(parse("- a\n- 'b''s'\n-\n  c: ~"), Ok(json!(["a", "b's", {"c": null}])));
    assert_eq!(
        parse("- srv:\n    command: x # why\n- other"),
        Ok(json!([{"srv": {"command": "x"}}, "other"]))
    );
    assert_eq!(parse_scalar("{\"a\": [1]}"), Ok(json!({"a": [1]})));
}

#[test]
fn what_has_no_meaning_is_told_in_one_sentence() {
    for (text, expected) in [
        ("a: 1\n   b: 2", "indented"),
        ("a: 1\na: 2", "there twice"),
        ("a: {b}", "is not JSON"),
        ("a: \"b", "not a quoted text"),
        ("a: 1\nword", "not `name: value`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected) && !error.contains('\n'), "{text}: {error}");
    }
    let deep: String = (0..40).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(parse(&deep).unwrap_err().contains("deep"));
}
