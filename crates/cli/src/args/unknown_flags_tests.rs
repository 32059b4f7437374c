use std::ffi::OsString;

use clap::{ArgAction, CommandFactory};

use super::{CliArgs, UnknownFlagPolicy, parse_words};

fn words(line: &[&str]) -> Vec<OsString> {
    [&["windlass"], line].concat().into_iter().map(OsString::from).collect()
}

#[test]
fn an_sdk_may_pass_flags_that_are_not_known() {
    let line = words(&[
        "--new=1",
        "--model",
        "opus",
        "--newer",
        "value",
        "--newest",
        "--verbose",
        "--print",
    ]);
    let parsed = parse_words(&line, UnknownFlagPolicy::Ignore).unwrap();
    assert_eq!(parsed.ignored, ["--new", "--newer", "--newest"]);
    // With --print the word behind an unknown flag could be the prompt.
    assert_eq!(parsed.args.print.prompt.as_deref(), Some("value"));
    assert_eq!(parsed.args.print.agent.model.model.as_deref(), Some("opus"));
    assert!(parsed.args.print.agent.output.verbose);
    let line = words(&["--newer", "value", "--verbose", "--", "--newest"]);
    let parsed = parse_words(&line, UnknownFlagPolicy::Ignore).unwrap();
    assert_eq!(parsed.ignored, ["--newer"]);
    assert_eq!(parsed.args.print.prompt.as_deref(), Some("--newest"));
}

#[test]
fn people_are_told_of_an_unknown_flag() {
    assert!(parse_words(&words(&["-p", "x", "--new"]), UnknownFlagPolicy::Reject).is_err());
    // A short option or a wrong value is an error for everyone.
    for wrong in [["-p", "x", "-Z"], ["-p", "x", "--max-turns=many"]] {
        assert!(parse_words(&words(&wrong), UnknownFlagPolicy::Ignore).is_err(), "{wrong:?}");
    }
}

/// SDKs write `--flag=value` with values that are empty or begin with a dash.
#[test]
fn every_flag_takes_any_text_behind_an_equals_sign() {
    let command = CliArgs::command();
    let is_text = |arg: &&clap::Arg| {
        matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
            && !arg.is_positional()
            && arg.get_possible_values().is_empty()
    };
    // These are numbers, ids or filters, and an empty one is wrong.
    let checked = [
        "beat-ms",
        "lease-ms",
        "log",
        "max-budget-tokens",
        "max-budget-usd",
        "max-call-budget-tokens",
        "max-call-budget-usd",
        "max-conversation-budget-tokens",
        "max-conversation-budget-usd",
        "max-thinking-tokens",
        "max-tokens",
        "max-turns",
        "session-id",
        "task-budget",
        "temperature",
        "tools-at-once",
        "window-tokens",
    ];
    let mut count = 0;
    for arg in command.get_arguments().filter(is_text) {
        let name = arg.get_long().unwrap();
        if checked.contains(&name) {
            continue;
        }
        count += 1;
        for value in ["", "-x", "--verbose", "a=b"] {
            // An empty path is refused by the parser already.
            let flag = format!("--{name}={value}");
            let parsed = parse_words(&words(&["--print", &flag]), UnknownFlagPolicy::Reject);
            let is_path = parsed.as_ref().err().is_some_and(|e| {
                let text = e.to_string();
                text.contains("a value is required") || text.contains("not a UUID")
            });
            assert!(parsed.is_ok() || is_path, "{flag}: {:?}", parsed.err());
        }
    }
    assert!(count > 30, "{count}");
}
