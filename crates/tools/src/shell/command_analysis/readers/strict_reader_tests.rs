use super::grammar_reader::ParsedItem;
use super::strict_reader::read_strictly;

fn strict_words(text: &str) -> Option<Vec<Vec<String>>> {
    let command = |item: ParsedItem| match item {
        ParsedItem::Command(words) => Some(words.into_iter().map(|word| word.text).collect()),
        ParsedItem::Redirect { .. } | ParsedItem::HereDocument(_) => None,
    };
    Some(read_strictly(text)?.into_iter().filter_map(command).collect())
}

#[test]
fn plain_texts_are_read() {
    let rows: [(&str, &[&[&str]]); 10] = [
        ("a b", &[&["a", "b"]]),
        ("a && b || c | d; e\nf", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]]),
        ("a 'b c' \"d e\" f\\ g", &[&["a", "b c", "d e", "f g"]]),
        ("a''b \"\" ''", &[&["ab", "", ""]]),
        ("a # b; c\nd", &[&["a"], &["d"]]),
        ("a#b", &[&["a#b"]]),
        ("a >b -c 2>&1 d", &[&["a", "-c", "d"]]),
        ("a 2 >b", &[&["a", "2"]]),
        ("a &&\nb\n\n", &[&["a"], &["b"]]),
        ("a $'\\n'", &[&["a", "\n"]]),
    ];
    for (text, expected) in rows {
        assert_eq!(strict_words(text).unwrap_or_else(|| panic!("{text}")), expected, "{text}");
    }
}

#[test]
fn anything_else_is_given_up() {
    for text in [
        "a $b",
        "a `b`",
        "a $(b)",
        "(a)",
        "{ a; }",
        "a &",
        "a & b",
        "a |& b",
        "! a",
        "if a",
        "[[ a",
        "a <<b",
        "a <<<b",
        "a <(b)",
        "a <>b",
        "x=1",
        "x=1 a",
        "x[0]=1",
        "a 'b",
        "a \"b",
        "a \\",
        "a &&",
        "a |",
        "&& a",
        "; a",
        "a ;; b",
        "a >",
        "a > ;",
        "*",
        "~/a",
        "a{b,c}",
        "a {1..3}",
        "\"$a\"",
        "$\"a\"",
        "a\rb",
        "a\0b",
        "é",
        "a >&x<y &>",
        "f() a",
        "''",
        "a > > b",
    ] {
        assert_eq!(strict_words(text), None, "{text}");
    }
}
