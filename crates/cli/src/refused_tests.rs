//! What is said about what was typed.

use clap::Parser;

use super::sentence;
use crate::args::Args;

fn said(typed: &[&str]) -> String {
    let all = ["windlass"].iter().chain(typed);
    sentence(&Args::try_parse_from(all).unwrap_err().to_string())
}

#[test]
fn every_mistake_is_one_sentence_that_says_where_to_look() {
    for (typed, expected) in [
        (
            &["-p", "x", "--nonsense"][..],
            "unexpected argument '--nonsense' found; `windlass --help` says what there is",
        ),
        (
            &["show", "x", "--jsn"],
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; `windlass show \
             --help` says what there is",
        ),
        (
            &["-p", "x", "--effort", "huge"],
            "invalid value 'huge' for '--effort <LEVEL>' [possible values: low, medium, high, xhigh, \
             max]; `windlass --help` says what there is",
        ),
        (
            &["answer", "x"],
            "the following required arguments were not provided: <QUESTION> <ANSWER>; `windlass \
             answer --help` says what there is",
        ),
        (&["fix", "the", "bug"], "a prompt of several words stands in quotes: `windlass -p \"…\"`"),
    ] {
        assert_eq!(said(typed), expected, "{typed:?}");
    }
}
