use std::sync::Arc;

use crate::ids::CallId;
use crate::mail::Answer;
use crate::question::About;

const CALL: CallId = CallId { ask: 1, index: 2 };

fn questions() -> [(About, &'static str); 4] {
    [
        (About::Approval { call: CALL }, "allow deny"),
        (About::Uncertain { call: CALL }, "retry done abandon"),
        (About::Asking { call: CALL }, "text deny"),
        (About::Drift { what: Arc::from("the prompt") }, "continue abandon"),
    ]
}

#[test]
fn each_question_takes_its_answers_and_no_other() {
    let text: Arc<str> = Arc::from("x");
    let answers = [
        ("allow", Answer::allow()),
        ("deny", Answer::Deny { reason: text.clone() }),
        ("retry", Answer::Retry {}),
        ("done", Answer::MarkDone { text: text.clone() }),
        ("abandon", Answer::Abandon {}),
        ("continue", Answer::Continue {}),
        ("text", Answer::Text { text }),
    ];
    for (about, takes) in questions() {
        for (name, answer) in &answers {
            assert_eq!(
                about.takes(answer),
                takes.split(' ').any(|word| word == *name),
                "{about:?} {name}"
            );
            let said = about.choices().replace("mark done", "done");
            assert_eq!(about.takes(answer), said.contains(name), "{about:?} says {said}");
        }
    }
}

#[test]
fn a_question_knows_its_call() {
    for (about, _) in questions() {
        let expected = (!matches!(about, About::Drift { .. })).then_some(CALL);
        assert_eq!(about.call(), expected);
    }
}
