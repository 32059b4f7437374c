//! The possible answers to a question.

use windlass::HumanAnswer;
use windlass::core::log::ids::CallId;
use windlass::core::permission::PermissionRule;
use windlass::core::run::question::QuestionKind;

use super::{ProjectContext, parse_typed_answer};
use crate::config::trust::folder_trust::TrustState;
use crate::messages;

const ABOUT: QuestionKind = QuestionKind::Approval { call: CallId { model_call: 1, index: 0 } };

#[test]
fn a_rule_for_the_project_is_offered_where_it_would_count() {
    let folder = tempfile::tempdir().unwrap();
    let rule = PermissionRule::parse("Bash(make:*)").unwrap();
    let kept = folder.path().join(".claude/settings.local.json");
    for (trust, offered) in [(TrustState::Untrusted, false), (TrustState::Trusted, true)] {
        let project = ProjectContext { folder: folder.path().to_owned(), trust };
        let answer = parse_typed_answer(&ABOUT, "p", Some(&rule), &project).unwrap();
        assert_eq!(answer.is_some(), offered, "{answer:?}");
        assert_eq!(messages::choice_line(&ABOUT, Some(&rule), trust).contains("[p]"), offered);
        assert_eq!(kept.exists(), offered);
    }
    assert!(std::fs::read_to_string(kept).unwrap().contains("\"Bash(make:*)\""));
}

#[test]
fn yes_no_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let project = ProjectContext { folder: folder.path().to_owned(), trust: TrustState::Untrusted };
    let said = |typed: &str| parse_typed_answer(&ABOUT, typed, None, &project).unwrap();
    assert_eq!(said("y"), Some(HumanAnswer::allow()));
    assert_eq!(said("n not today"), Some(HumanAnswer::deny("not today")));
    assert_eq!(said("c"), None, "there is no rule to keep");
    assert_eq!(said("perhaps"), None);
}
