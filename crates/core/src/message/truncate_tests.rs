use crate::message::raw_json::RawJson;
use crate::message::truncate::{truncate_content, truncate_text};

const FAMILY: &str = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
const WAVE: &str = "\u{1f44b}\u{1f3fd}";
const FLAG: &str = "\u{1f1ee}\u{1f1f1}";
const SHALOM: &str = "\u{5e9}\u{5b8}\u{5c1}\u{5dc}\u{5d5}\u{5b9}\u{5dd}";

/// Head and tail of a cut text.
fn parts(cut: &str) -> (&str, &str) {
    let (head, rest) = cut.split_once("\n[\u{2026} ").unwrap();
    (head, rest.split_once("]\n").unwrap().1)
}

#[test]
fn short_text_is_left_alone() {
    for (input, limit) in [("", 0), ("abc", 3), (FAMILY, 5), ("x", u64::MAX)] {
        assert_eq!(truncate_text(input, limit), input);
    }
}

// spec: ROUNDS-14
#[test]
fn head_tail_and_the_omitted_count_are_said() {
    let input: String = ('a'..='z').cycle().take(32_001).collect();
    let cut = truncate_text(&input, 32_000);
    let (head, tail) = parts(&cut);
    assert_eq!((head.len(), tail.len()), (24_000, 8_000));
    assert!(input.starts_with(head) && input.ends_with(tail));
    assert!(cut.contains("[\u{2026} 1 characters omitted \u{2026}]"));
    let input = "a".repeat(100_000);
    assert!(truncate_text(&input, 32_000).contains(" 68000 characters omitted "));
}

// spec: ROUNDS-14
#[test]
fn no_sign_is_broken() {
    for sign in [
        FAMILY,
        WAVE,
        FLAG,
        "e\u{301}\u{323}",
        "\u{5e9}\u{5b8}\u{5c1}",
        "\r\n",
        "\u{1112}\u{1161}\u{11ab}",
        "\u{915}\u{94d}",
    ] {
        let whole = sign.repeat(50);
        let size = sign.chars().count();
        for limit in 0..(size * 12) as u64 {
            let cut = truncate_text(&whole, limit);
            let (head, tail) = parts(&cut);
            assert!(
                head.chars().count().is_multiple_of(size),
                "{sign:?} at {limit}: head {head:?}"
            );
            assert!(
                tail.chars().count().is_multiple_of(size),
                "{sign:?} at {limit}: tail {tail:?}"
            );
            assert!((head.chars().count() + tail.chars().count()) as u64 <= limit);
        }
    }
}

#[test]
fn hebrew_keeps_its_points() {
    let whole = SHALOM.repeat(20);
    for limit in 1..130 {
        let cut = truncate_text(&whole, limit);
        let (_, tail) = parts(&cut);
        let first = tail.chars().next();
        assert!(first.is_none_or(|c| !('\u{591}'..='\u{5c7}').contains(&c)), "{limit}: {tail:?}");
    }
}

#[test]
fn nothing_but_marks_is_cut_to_nothing() {
    let marks = "\u{301}".repeat(100);
    let cut = truncate_text(&marks, 10);
    assert!(cut.chars().count() < 60, "{cut:?}");
}

// spec: ROUNDS-14
#[test]
fn content_stays_json() {
    let rows = [
        RawJson::string(&"quote \" and \\ and \n".repeat(100)),
        RawJson::parse(format!(r#"[{{"type":"text","text":"{}"}}]"#, "x".repeat(500))).unwrap(),
        RawJson::parse(format!(r#""{}""#, r"\ud800".repeat(100))).unwrap(),
        RawJson::parse(format!(r#""{}""#, r"\u05d0".repeat(100))).unwrap(),
        RawJson::string(&FAMILY.repeat(100)),
    ];
    for raw in rows {
        for limit in [0, 1, 7, 50, 99] {
            let cut = truncate_content(&raw, limit);
            let read: String = cut.read().unwrap();
            assert!(read.chars().count() as u64 <= limit + 40, "{limit}: {read}");
            assert!(read.contains("characters omitted"));
        }
    }
}

#[test]
fn content_within_the_limit_is_the_same_bytes() {
    for json in [r#""\u05d0\u05d1""#, r#"[ {"type":"text","text":"a"} ]"#, "\"\""] {
        let raw = RawJson::parse(json).unwrap();
        assert_eq!(truncate_content(&raw, 32_000).text(), json);
    }
    // Escapes count as the characters they stand for.
    let escaped = RawJson::parse(format!("\"{}\"", r"\u05d0".repeat(10))).unwrap();
    assert_eq!(truncate_content(&escaped, 10), escaped);
}

#[test]
fn an_image_stays_whole_and_its_caption_is_cut() {
    let image = format!(r#"{{"type":"image","source":{{"data":"{}"}}}}"#, "A".repeat(5_000));
    let caption = "x".repeat(900);
    let list = format!(r#"[{{"type":"text","text":"{caption}"}},{image}]"#);
    let cut = truncate_content(&RawJson::parse(list).unwrap(), 100);
    assert!(cut.text().contains(&image));
    assert!(cut.text().contains("characters omitted"));
    assert!(!cut.text().contains(&caption));
}
