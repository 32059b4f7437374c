use super::glob::{escape, matches_name, matches_path};

#[test]
fn stars_and_question_marks_stand_for_characters() {
    let rows = [
        ("mcp__*", "mcp__a__b", true),
        ("*", "", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("a*c", "abbbc", true),
        ("a*c", "abbb", false),
        ("", "", true),
        ("", "a", false),
        ("é*", "école", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false),
        ("a\\?", "a?", true),
        ("a\\?", "ab", false),
        ("a\\b", "a\\b", true),
        ("a\\", "a\\", true),
        ("a\\\\*", "a\\b", true),
        ("a\\\\\\*", "a\\*", true),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(matches_name(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn a_path_is_compared_part_by_part() {
    let rows: [(&[&str], &str, bool); 8] = [
        (&["data"], "/data", true),
        (&["data"], "/data/x/y", true),
        (&["data"], "/data-evil/x", false),
        (&["data", "*"], "/data/x", true),
        (&["data", "*.rs"], "/data/a/b.rs", false),
        (&["data", "**", "*.rs"], "/data/a/b.rs", true),
        (&["**", "k"], "/a/b/k", true),
        (&["data"], "//data/./x", true),
    ];
    for (pattern, path, expected) in rows {
        assert_eq!(matches_path(pattern, path), expected, "{pattern:?} {path}");
    }
}

/// Ten thousand characters against hundreds of stars: with backtracking over all of them this test
/// would not end.
#[test]
fn patterns_do_not_explode() {
    let pattern = format!("{}b", "*a".repeat(400));
    assert!(!matches_name(&pattern, &"a".repeat(10_000)));
    let parts = ["**", "a"].repeat(100);
    assert!(!matches_path(&[parts.as_slice(), &["b"]].concat(), &"/a".repeat(1_000)));
}

#[test]
fn an_escaped_text_is_a_pattern_for_itself_alone() {
    let texts = ["*", "?", "\\", "\\*", "a*b", "**", "*.rs", "", "a", "\\\\", "x?", "a\\b"];
    for text in texts {
        for other in texts {
            assert_eq!(matches_name(&escape(text), other), text == other, "{text} {other}");
        }
    }
}
