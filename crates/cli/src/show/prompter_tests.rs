//! What can be answered to a question.

use std::sync::Arc;

use windlass::Answer;
use windlass::core::ids::CallId;
use windlass::core::permission::Rule;
use windlass::core::question::About;

use super::{Project, read};
use crate::settle::trust::Trust;
use crate::words;

const ABOUT: About = About::Approval { call: CallId { ask: 1, index: 0 } };

#[test]
fn a_rule_for_the_project_is_offered_where_it_would_count() {
    let folder = tempfile::tempdir().unwrap();
    let rule = Rule::parse("Bash(make:*)").unwrap();
    let kept = folder.path().join(".claude/settings.local.json");
    for (trust, offered) in [(Trust::Missing, false), (Trust::Given, true)] {
        let project = Project { folder: folder.path().to_owned(), trust };
        let answer = read(&ABOUT, "p", Some(&rule), &project).unwrap();
        assert_eq!(answer.is_some(), offered, "{answer:?}");
        assert_eq!(words::choices(&ABOUT, Some(&rule), trust).contains("[p]"), offered);
        assert_eq!(kept.exists(), offered);
    }
    assert!(std::fs::read_to_string(kept).unwrap().contains("\"Bash(make:*)\""));
}

#[test]
fn yes_no_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project { folder: folder.path().to_owned(), trust: Trust::Missing };
    let said = |typed: &str| read(&ABOUT, typed, None, &project).unwrap();
    assert_eq!(said("y"), Some(Answer::allow()));
    assert_eq!(said("n not today"), Some(Answer::Deny { reason: Arc::from("not today") }));
    assert_eq!(said("c"), None, "there is no rule to keep");
    assert_eq!(said("perhaps"), None);
}
