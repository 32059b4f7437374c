//! Markdown as it comes.

use super::Markdown;

/// In one piece, and in pieces of one character: both look the same.
fn rendered(text: &str) -> String {
    let mut whole = Markdown::default();
    let at_once = whole.push(text) + &whole.end();
    let mut slow = Markdown::default();
    let mut pieces: String = text.chars().map(|c| slow.push(c.encode_utf8(&mut [0; 4]))).collect();
    pieces.push_str(&slow.end());
    assert_eq!(at_once, pieces, "{text:?}");
    at_once
        .replace("\u{1b}[0m", "<>")
        .replace("\u{1b}[1m", "<b>")
        .replace("\u{1b}[36m", "<c>")
        .replace("\u{1b}[2m", "<d>")
}

// spec: CLI-03
#[test]
fn marks_become_styles() {
    let cases = [
        ("plain text\n", "plain text\n"),
        ("# A heading\nafter", "<b>A heading<>\nafter"),
        ("so **very** good", "so <><b>very<> good"),
        ("run `make` now", "run <><c>make<> now"),
        ("- one\n  * two\n", "• one\n  • two\n"),
        (
            "```rust\nlet a = **b;\n```\nafter **x**",
            "<d>```rust<>\nlet a = **b;\n<d>```<>\nafter <><b>x<>",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(rendered(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_mark_is_left_as_it_is() {
    for text in ["2 * 3 * 4", "#hashtag", "####### seven", "-5 degrees", "a*b", "*", "a\n\nb", "`"]
    {
        assert_eq!(rendered(text), text);
    }
}

#[test]
fn what_is_not_closed_ends_with_its_line() {
    assert_eq!(rendered("a **b\nc"), "a <><b>b<>\nc");
    assert_eq!(rendered("a `b\nc"), "a <><c>b<>\nc");
}
