//! Which prompts are commands, and which are for the model.

use super::{LocalCommand, LocalCommandCall, SlashCommand};

fn read(prompt: &str) -> anyhow::Result<Option<LocalCommandCall>> {
    Ok(super::parse_slash(prompt, &[])?.map(|meant| match meant {
        SlashCommand::Local(slash) => slash,
        SlashCommand::Custom(custom, _) => panic!("{custom:?}"),
    }))
}

#[test]
fn a_command_is_its_name_and_what_follows() {
    let compact = |rest: &str| {
        Some(LocalCommandCall { name: LocalCommand::Compact, arguments: rest.to_owned() })
    };
    assert_eq!(read("/compact").unwrap(), compact(""));
    assert_eq!(read("/compact  the names\nand dates ").unwrap(), compact("the names\nand dates"));
    assert_eq!(read("/cost").unwrap().map(|slash| slash.name), Some(LocalCommand::Cost));
}

#[test]
fn paths_and_everything_else_are_for_the_model() {
    let words = ["what does /compact do?", " /compact", "/", "/ compact", "//x", "/usr/bin/x dies"];
    // The path of an existing folder is not a command.
    for text in words.into_iter().chain(["/tmp is full", "/etc", "/2x"]) {
        assert_eq!(read(text).unwrap(), None, "{text}");
    }
}

#[test]
fn an_unknown_command_is_told_with_those_that_exist() {
    let error = read("/frobnicate now").unwrap_err().to_string();
    assert!(error.contains(
        "unknown command /frobnicate; available: /cancel, /clear, /compact, /context, /cost, /help"
    ));
}
