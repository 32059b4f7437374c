//! The argument after `-p`, as scripts and people write it.

use std::ffi::OsString;

use clap::Parser;

use super::{CliArgs, CommandLine};

fn read(words: &[&str]) -> Result<CliArgs, String> {
    let line = CommandLine::parse(words.iter().map(OsString::from));
    let args = CliArgs::try_parse_from(&line.words).map_err(|error| error.to_string())?;
    line.reject_ambiguous_option(&args)?;
    Ok(args)
}

#[test]
fn a_prompt_may_look_like_an_option_or_a_command() {
    for prompt in [
        "- fix this",
        "-fix",
        "--fix the bug",
        "--fix=now please",
        "---",
        "--settings please = look",
        "doctor",
        "trust",
        "help",
        "-1",
        "ordinary words",
    ] {
        for words in [
            &["windlass", "-p", prompt, "--json"][..],
            &["windlass", "--json", "--print", prompt],
            &["windlass", "-pc", prompt, "--json"],
            &["windlass", "-p", "--json", "--", prompt],
        ] {
            let args = read(words).unwrap_or_else(|reason| panic!("{words:?}: {reason}"));
            assert!(args.command.is_none(), "{words:?}");
            assert_eq!(args.print.prompt.as_deref(), Some(prompt), "{words:?}");
            assert!(args.print.print && args.print.agent.output.json, "{words:?}");
        }
    }
}

#[test]
fn an_option_in_the_place_of_the_prompt_is_refused() {
    for option in [
        "--settings={}",
        "--allow=Bash",
        "--allowed-tools=Bash",
        "--dangerously-skip-permissions",
        "--permission-mode=bypassPermissions",
        "--output-format=json",
        "-rabc",
    ] {
        let reason = read(&["windlass", "-p", option]).unwrap_err();
        assert!(reason.contains("`windlass -p -- TEXT`"), "{option}: {reason}");
        assert!(!reason.contains("{}") && !reason.contains("Bash"), "{option}: {reason}");
        // With a prompt the word can only be an option.
        assert!(read(&["windlass", "-p", option, "hello"]).is_ok(), "{option}");
        assert!(read(&["windlass", option, "-p"]).is_ok(), "{option}");
        let args = read(&["windlass", "-p", "--", option]).unwrap();
        assert_eq!(args.print.prompt.as_deref(), Some(option));
    }
}

#[test]
fn options_that_only_say_how_may_follow() {
    for words in [
        &["windlass", "-p", "--json"][..],
        &["windlass", "-p", "--output-format", "json", "hello"],
        &["windlass", "-p", "-c", "hello"],
        &["windlass", "-p", "-r", "abc", "hello"],
        &["windlass", "-p", "-"],
        &["windlass", "-p"],
        &["windlass", "-p", "--settings", "{}"],
    ] {
        assert!(read(words).is_ok(), "{words:?}");
    }
    assert!(matches!(read(&["windlass", "runs"]), Ok(args) if args.command.is_some()));
    assert!(read(&["windlass", "runs", "-p", "--nonsense"]).is_err());
}
