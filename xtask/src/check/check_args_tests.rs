use anyhow::Result;

use super::check_args::CheckArgs;
use super::check_parts::CHECK_PARTS;

fn chosen(arguments: &str) -> Result<Vec<&'static str>> {
    let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    match CheckArgs::parse(&words)? {
        CheckArgs::List => Ok(vec!["list"]),
        CheckArgs::Run(parts) => Ok(parts.iter().map(|part| part.name).collect()),
    }
}

#[test]
fn nothing_asked_means_everything() {
    assert_eq!(chosen("").unwrap().len(), CHECK_PARTS.len());
}

#[test]
fn only_is_one_part() {
    assert_eq!(chosen("--only tidy").unwrap(), ["tidy"]);
}

#[test]
fn from_goes_on_to_the_end() {
    assert_eq!(chosen("--from simulate").unwrap(), ["simulate", "torture", "torture-postgres"]);
}

#[test]
fn list_runs_nothing() {
    assert_eq!(chosen("--list").unwrap(), ["list"]);
}

#[test]
fn an_unknown_part_is_answered_with_the_known_ones() {
    let error = chosen("--only tests").unwrap_err().to_string();
    assert!(error.contains("`tests`") && error.contains("fmt, clippy, tidy"), "{error}");
}

#[test]
fn other_words_are_refused() {
    assert!(chosen("--only").is_err());
    assert!(chosen("--fast").is_err());
    assert!(chosen("tidy").is_err());
}
