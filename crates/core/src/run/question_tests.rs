use std::sync::Arc;

use crate::log::ids::CallId;
use crate::log::inbox::HumanAnswer;
use crate::run::question::QuestionKind;

const CALL: CallId = CallId { model_call: 1, index: 2 };

fn questions() -> [(QuestionKind, &'static str); 4] {
    [
        (QuestionKind::Approval { call: CALL }, "allow deny"),
        (QuestionKind::Uncertain { call: CALL }, "retry done abandon"),
        (QuestionKind::ModelQuestion { call: CALL }, "text deny"),
        (QuestionKind::PromptChanged { changes: Arc::from("the prompt") }, "continue abandon"),
    ]
}

#[test]
fn each_question_takes_its_answers_and_no_other() {
    let text: Arc<str> = Arc::from("x");
    let answers = [
        ("allow", HumanAnswer::allow()),
        ("deny", HumanAnswer::deny(text.clone())),
        ("retry", HumanAnswer::Retry {}),
        ("done", HumanAnswer::MarkDone { text: text.clone() }),
        ("abandon", HumanAnswer::Abandon {}),
        ("continue", HumanAnswer::Continue {}),
        ("text", HumanAnswer::Text { text }),
    ];
    for (kind, takes) in questions() {
        for (name, answer) in &answers {
            assert_eq!(
                kind.accepts(answer),
                takes.split(' ').any(|word| word == *name),
                "{kind:?} {name}"
            );
        }
    }
}

#[test]
fn a_question_knows_its_call() {
    for (kind, _) in questions() {
        let expected = (!matches!(kind, QuestionKind::PromptChanged { .. })).then_some(CALL);
        assert_eq!(kind.call(), expected);
    }
}
