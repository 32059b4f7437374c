use super::text_search::{bracketed_length, find_words, leading_name, line_of};

#[test]
fn brackets_match_through_nesting() {
    assert_eq!(bracketed_length("{a{b}c} d", '{', '}'), Some(7));
    assert_eq!(bracketed_length("(é)x", '(', ')'), Some(4));
}

#[test]
fn brackets_that_never_close_have_no_length() {
    assert_eq!(bracketed_length("{a{b}", '{', '}'), None);
    assert_eq!(bracketed_length("}", '{', '}'), None);
}

#[test]
fn lines_count_from_one() {
    assert_eq!(line_of("a\nb\nc", 0), 1);
    assert_eq!(line_of("a\nb\nc", 4), 3);
}

#[test]
fn a_word_inside_a_longer_name_is_another_word() {
    let at: Vec<_> = find_words("rand operand rand_core x::rand", "rand").collect();
    assert_eq!(at, [0, 26]);
}

#[test]
fn a_name_ends_where_it_must() {
    assert_eq!(leading_name("stop_02(x)"), "stop_02");
    assert_eq!(leading_name("(x)"), "");
}
