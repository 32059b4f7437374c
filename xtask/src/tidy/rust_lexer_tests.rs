use super::rust_lexer::{code_only, comments_only};

/// Removes the spaces that replace what was left out.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn code_is_without_comments() {
    assert_eq!(squeezed(&code_only("a // b\nc /* d /* e */ f */ g")), "a c g");
}

#[test]
fn code_is_without_quoted_text() {
    assert_eq!(squeezed(&code_only(r#"f("x \" y", 'z', '\'', b"w")"#)), "f( , , , b )");
}

#[test]
fn raw_strings_end_at_their_own_hashes() {
    assert_eq!(squeezed(&code_only("a(r#\"x \" y\"#); b(br\"z\\\"); c")), "a( ); b( ); c");
}

#[test]
fn lifetimes_are_code() {
    let source = "fn f<'a>(x: &'a str) -> &'static str { 'outer: loop {} }";
    assert_eq!(code_only(source), source);
}

#[test]
fn a_name_that_ends_in_r_does_not_begin_a_raw_string() {
    assert_eq!(squeezed(&code_only("for\"x\" y")), "for y");
    assert_eq!(squeezed(&code_only("r#type + r")), "r#type + r");
}

#[test]
fn slashes_in_a_string_do_not_begin_a_comment() {
    assert_eq!(squeezed(&comments_only("f(\"// no\"); // yes\n/* too */")), "// yes /* too */");
}

#[test]
fn lines_keep_their_numbers_and_unclosed_text_ends_with_the_file() {
    assert_eq!(code_only("a\n/* b\nc */\nd").lines().count(), 4);
    assert_eq!(squeezed(&code_only("a \"b")), "a");
    assert_eq!(squeezed(&code_only("a /* b")), "a");
}
