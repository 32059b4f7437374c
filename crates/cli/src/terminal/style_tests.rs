use super::{Color, ColorSupport, OutputStyle};
use crate::terminal::{sanitize_line, to_one_line, truncate};

const PLAIN: OutputStyle = OutputStyle { colors: ColorSupport::Disabled, width: 60 };

#[test]
fn lines_are_broken_between_words_and_inside_long_ones() {
    let text = format!("{} {}", "word ".repeat(14), "x".repeat(70));
    let wrapped = PLAIN.wrap(&text, 4);
    assert!(wrapped.lines().all(|line| line.chars().count() <= 60), "{wrapped}");
    assert!(wrapped.lines().all(|line| line.starts_with("    ")), "{wrapped}");
    assert_eq!(wrapped.matches('x').count(), 70);
    assert_eq!(PLAIN.wrap("a\n\nb", 1), " a\n \n b");
}

#[test]
fn nothing_said_by_others_reaches_the_terminal_as_a_command() {
    assert_eq!(sanitize_line("a\x1b[31mb\r\nc\u{7}\u{9b}"), "a\u{fffd}[31mb\nc\u{fffd}\u{fffd}");
    assert_eq!(to_one_line("a\n\n b\tc", 9), "a b c");
    assert_eq!(truncate("abcdef", 4), "abc…");
    assert_eq!(truncate("abcd", 4), "abcd");
}

#[test]
fn plain_paper_has_no_colours() {
    assert_eq!(PLAIN.paint(Color::Red, "x"), "x");
    assert_eq!(
        OutputStyle { colors: ColorSupport::Enabled, ..PLAIN }.paint(Color::Red, "x"),
        "\x1b[31mx\x1b[0m"
    );
}
