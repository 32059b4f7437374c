//! Names with a special meaning for a shell.

use super::{option_word, shell_word};

#[test]
fn a_name_is_one_word_whatever_it_holds() {
    for (name, word) in [
        ("conversation:01a1", "conversation:01a1"),
        ("/srv/a-b_c", "/srv/a-b_c"),
        ("two words", "'two words'"),
        ("x; rm -rf ~", "'x; rm -rf ~'"),
        ("$(touch x)`y`", "'$(touch x)`y`'"),
        ("it's", r"'it'\''s'"),
        ("", "''"),
        ("-rf", "-- -rf"),
        ("--store=x y", "-- '--store=x y'"),
        ("ünï", "'ünï'"),
    ] {
        assert_eq!(shell_word(name), word);
    }
    assert_eq!(option_word("--resume", "a b"), "--resume 'a b'");
    assert_eq!(option_word("--resume", "-x y"), "--resume='-x y'");
}
