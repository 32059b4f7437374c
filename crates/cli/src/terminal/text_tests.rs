//! Wrapping of text to the width of a terminal.

use super::{wrap_choices, wrap_words};

#[test]
fn lines_break_between_words_by_columns_and_not_by_characters() {
    assert_eq!(wrap_words("one two three", 8, 2), "one two\n  three");
    assert_eq!(wrap_words("漢字 漢字 漢字", 10, 0), "漢字 漢字\n漢字");
    assert_eq!(wrap_words("  1. Red - warm", 12, 5), "  1. Red -\n     warm");
    assert_eq!(wrap_words("averylongword b", 5, 0), "averylongword\nb");
    assert_eq!(wrap_words("", 5, 0), "");
}

#[test]
fn choices_that_do_not_fit_have_a_line_each() {
    let choices = "[y] allow once  [n] deny (you may add a reason):";
    assert_eq!(wrap_choices(choices, 80), choices);
    assert_eq!(wrap_choices(choices, 40), "[y] allow once\n[n] deny (you may add a reason):");
    assert_eq!(wrap_choices(choices, 20), "[y] allow once\n[n] deny (you may\n    add a reason):");
}
