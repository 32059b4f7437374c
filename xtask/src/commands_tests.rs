use crate::commands::{COMMANDS, dispatch, help_text};

#[test]
fn help_has_one_line_for_each_command() {
    let help = help_text();
    for command in COMMANDS {
        let lines = help.lines().filter(|line| line.trim_start().starts_with(command.usage));
        assert_eq!(lines.count(), 1, "{}", command.name);
    }
}

#[test]
fn every_usage_begins_with_its_command() {
    assert!(COMMANDS.iter().all(|command| command.usage.starts_with(command.name)));
}

#[test]
fn an_unknown_command_is_refused_by_name() {
    let error = dispatch(&["explroe".to_owned()]).expect_err("no such command");
    assert!(error.to_string().contains("`explroe`"));
}

#[test]
fn no_words_and_help_flags_are_answered() {
    assert!(dispatch(&[]).is_ok());
    assert!(dispatch(&["--help".to_owned()]).is_ok());
}
