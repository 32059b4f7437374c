//! Rendering of streamed Markdown.

use super::MarkdownRenderer;

/// Renders the text in one piece and in pieces of one character: both must look the same.
fn rendered_at(width: usize, text: &str) -> String {
    let mut whole = MarkdownRenderer::new(width);
    let at_once = whole.push(text) + &whole.end();
    let mut slow = MarkdownRenderer::new(width);
    let mut pieces: String = text.chars().map(|c| slow.push(c.encode_utf8(&mut [0; 4]))).collect();
    pieces.push_str(&slow.end());
    assert_eq!(at_once, pieces, "{text:?}");
    at_once
        .replace("\u{1b}[0m", "<>")
        .replace("\u{1b}[1m", "<b>")
        .replace("\u{1b}[2m", "<d>")
        .replace("\u{1b}[3m", "<i>")
        .replace("\u{1b}[4m", "<u>")
        .replace("\u{1b}[9m", "<s>")
        .replace("\u{1b}[36m", "<c>")
        .replace("\u{1b}[35m", "<k>")
}

fn rendered(text: &str) -> String {
    rendered_at(80, text)
}

// spec: CLI-03
#[test]
fn marks_become_styles() {
    let cases = [
        ("plain text\n", "plain text\n"),
        ("# A heading\nafter", "<b>A<> <b>heading<>\nafter\n"),
        ("so **very** good", "so <b>very<> good\n"),
        ("it is *rather* good, _really_.", "it is <i>rather<> good, <i>really<>.\n"),
        ("**both *at* once**", "<b>both<> \u{1b}[1;3mat<> <b>once<>\n"),
        ("this is ~~wrong~~", "this is <s>wrong<>\n"),
        ("run `make *x*` now", "run <c>make<> <c>*x*<> now\n"),
        ("- one\n  * two\n", "• one\n  • two\n"),
        ("1. one\n12) two", "1. one\n12) two\n"),
        (
            "see [the page](https://x.org/a_b).",
            "see <u>the<> <u>page<> <d>(https://x.org/a_b)<>.\n",
        ),
        ("> a quote", "<d>│ <><i>a<> <i>quote<>\n"),
        ("a\n---\nb", "a\n<d>────────────────────────────────────────────────────────────<>\nb\n"),
        (
            "```rust\nlet a = **b;\n```\nafter **x**",
            "<d>```rust<>\n<k>let<> a = **b;\n<d>```<>\nafter <b>x<>\n",
        ),
        ("\\*not this\\*", "*not this*\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(rendered(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_mark_is_left_as_it_is() {
    let texts = [
        "2 * 3 * 4",
        "#hashtag",
        "####### seven",
        "-5 degrees",
        "a*b",
        "*",
        "a\n\nb",
        "`",
        "all *.rs files",
        "snake_case_name and __init__.py",
        "a[0] and [x] and [y",
        "~ and ~/folder",
        "2024. was",
        "a **b\nc",
        "a `b\nc",
    ];
    for text in texts {
        assert_eq!(rendered(text), format!("{text}\n"), "{text:?}");
    }
}

// spec: CLI-03
#[test]
fn lines_break_between_words_and_go_on_below_their_text() {
    let text = "- the quick brown fox jumps over the lazy dog";
    assert_eq!(rendered_at(24, text), "• the quick brown fox\n  jumps over the lazy\n  dog\n");
    let quote = rendered_at(20, "> one two three four five six");
    assert_eq!(quote.matches("<d>│ <>").count(), 2, "{quote}");
    // Characters of double width count twice, and a word longer than a line is split.
    assert_eq!(rendered_at(20, "日本語日本語日本語日本語"), "日本語日本語日本語日\n本語\n");
    assert_eq!(rendered_at(20, &"x".repeat(45)).lines().map(str::len).max(), Some(20));
    // Code is not wrapped: it is copied.
    let code = format!("```\n{}\n```\n", "x ".repeat(40));
    assert!(rendered_at(20, &code).contains(&"x ".repeat(40)));
}

const TABLE: &str = "Before\n| name | what it **does** | n |\n|---|:-:|--:|\n| a | first | 1 |\n\
                     | bbb | the second of them | 22 |\nAfter";

// spec: CLI-03
#[test]
fn tables_are_drawn_in_columns_that_fit() {
    let wide = rendered(TABLE);
    let lines: Vec<&str> = wide.lines().collect();
    assert_eq!(lines[1], "<b>name<> <d>│<>    <b>what it does<>    <d>│<>  <b>n<>");
    assert_eq!(lines[3], "a    <d>│<>       first        <d>│<>  1");
    assert_eq!(lines[4], "bbb  <d>│<> the second of them <d>│<> 22");
    assert_eq!(lines[5], "After");
    let narrow = rendered_at(24, TABLE);
    assert!(narrow.contains("the second") && narrow.contains("of them"), "{narrow}");
    let plain = |line: &str| line.replace("<d>", "").replace("<b>", "").replace("<>", "");
    assert!(narrow.lines().all(|line| plain(line).chars().count() <= 24), "{narrow}");
    // A line that is not a table is kept.
    assert_eq!(rendered("| a | b\n"), "| a | b\n");
    // Too narrow for columns: one line per cell.
    let many = "|aaaaaaaa|bbbbbbbb|cccccccc|\n|-|-|-|\n|1|2|3|\n";
    assert!(rendered_at(20, many).contains("aaaaaaaa<>: 1\n"), "{}", rendered_at(20, many));
}

#[test]
fn a_long_line_of_marks_takes_no_time() {
    let text = "*a ".repeat(5_000) + &"[".repeat(5_000) + &"`".repeat(5_000);
    let mut markdown = MarkdownRenderer::new(80);
    let output = markdown.push(&text) + &markdown.end();
    assert!(output.contains("*a *a"), "nothing is lost");
}
