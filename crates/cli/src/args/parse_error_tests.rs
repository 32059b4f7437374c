//! Errors of the command line.

use std::ffi::OsString;

use clap::Parser;

use super::{one_sentence, unknown_command_message};
use crate::args::CliArgs;

fn said(typed: &[&str]) -> String {
    let all: Vec<OsString> = ["windlass"].iter().chain(typed).map(OsString::from).collect();
    one_sentence(&CliArgs::try_parse_from(&all).unwrap_err().to_string(), &all)
}

#[test]
fn every_mistake_is_one_sentence_that_says_where_to_look() {
    for (typed, expected) in [
        (
            &["-p", "x", "--nonsense"][..],
            "unexpected argument '--nonsense' found; see `windlass --help`",
        ),
        (
            &["show", "x", "--jsn"],
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; see \
             `windlass show --help`",
        ),
        (
            &["-p", "x", "--effort", "huge"],
            "invalid value 'huge' for '--effort <LEVEL>' [possible values: low, medium, high, xhigh, \
             max]; see `windlass --help`",
        ),
        (
            &["runs", "--limit", "x"],
            "invalid value 'x' for '--limit <N>': give a whole number above 0; see `windlass runs --help`",
        ),
        (
            &["answer", "x"],
            "the following required arguments were not provided: <QUESTION> <ANSWER>; see \
             `windlass answer --help`",
        ),
        (&["-p", "fix", "y"], "quote a prompt that has several words: `windlass -p \"…\"`"),
        (
            &["-p", "fix", "it", "--json"],
            "quote a prompt that has several words: `windlass -p \"…\"`",
        ),
        (&["fix", "the", "bug"], "quote a prompt that has several words: `windlass -p \"…\"`"),
    ] {
        assert_eq!(said(typed), expected, "{typed:?}");
    }
}

#[test]
fn a_command_with_a_slip_of_the_finger_is_named() {
    for (typed, meant) in [
        ("rnus", Some("runs")),
        ("run", Some("runs")),
        ("doctr", Some("doctor")),
        ("explian", Some("explain")),
        ("resmue", Some("resume")),
        ("hi", None),
        ("fix the bug", None),
        ("", None),
    ] {
        let output = unknown_command_message(Some(typed));
        match meant {
            Some(name) => {
                assert!(output.contains(&format!("did you mean `windlass {name}`?")), "{output}");
            }
            None => assert!(output.starts_with("to run a prompt"), "{typed}: {output}"),
        }
    }
    assert!(unknown_command_message(None).contains("windlass -p \"PROMPT\""));
}
