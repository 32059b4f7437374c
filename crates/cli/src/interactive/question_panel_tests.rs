use windlass::HumanAnswer;
use windlass::core::log::ids::{CallId, LaneId};
use windlass::core::run::question::QuestionKind;

use super::{PanelAnswer, PanelKey, QuestionPanel, QuestionPlace, choices_of};
use crate::config::claude::permission_settings::parse_rule;
use crate::interactive::key_decoder::Key;
use crate::interactive::question_panel::{Choice, ChoiceMeaning, RuleScope};

fn approval() -> QuestionPanel {
    let kind = QuestionKind::Approval { call: CallId { model_call: 1, index: 0 } };
    let rule = parse_rule("Bash(npm test:*)").unwrap();
    let mut choices =
        choices_of(&kind, Some(&rule), &[RuleScope::Conversation, RuleScope::Project]);
    choices.push(Choice::new('n', "No, because:", ChoiceMeaning::Deny).with_typed_text());
    QuestionPanel {
        place: QuestionPlace { lane: LaneId::from("conversation:1"), id: 3 },
        title: "Allow Bash to run this command?".to_owned(),
        details: vec!["    npm test".to_owned()],
        choices,
        selected: 0,
        scroll: 0,
        is_editing: false,
        error: None,
        form: Vec::new(),
        form_answers: Vec::new(),
        request: None,
        input_hash: None,
        sandbox: vec!["Level: read-only".to_owned()],
        shows_sandbox: false,
        edited_argument: None,
    }
}

fn press(panel: &mut QuestionPanel, keys: &str) -> Option<PanelAnswer> {
    let mut answer = None;
    for c in keys.chars() {
        let key = match c {
            '\n' => Key::Enter,
            '\t' => Key::Tab,
            c => Key::Char(c),
        };
        if let PanelKey::Answered(answered) = panel.on_key(&key) {
            answer = Some(*answered);
        }
    }
    answer
}

#[test]
fn letters_select_and_enter_answers() {
    assert_eq!(press(&mut approval(), "yny"), None);
    assert_eq!(press(&mut approval(), "y\n").unwrap().answer, HumanAnswer::allow());
    let denied = press(&mut approval(), "nuse git\n").unwrap().answer;
    assert_eq!(denied, HumanAnswer::deny("use git"));
    let denied = press(&mut approval(), "n\n").unwrap().answer;
    assert_eq!(denied, HumanAnswer::deny("the user denied the call"));
}

#[test]
fn a_rule_is_edited_before_it_is_kept() {
    let mut panel = approval();
    assert_eq!(press(&mut panel, "p\t"), None);
    (0..3).for_each(|_| drop(panel.on_key(&Key::Backspace)));
    let answered = press(&mut panel, ")\n").unwrap();
    let rule = parse_rule("Bash(npm test)").unwrap();
    assert_eq!(answered.answer, HumanAnswer::allow_with_rule(rule.clone()));
    assert_eq!(answered.saved_rule, Some((RuleScope::Project, rule)));
    let mut panel = approval();
    press(&mut panel, "c\t");
    panel.on_key(&Key::Ctrl('u'));
    assert_eq!(press(&mut panel, "\n"), None);
    assert!(panel.error.is_some());
}
