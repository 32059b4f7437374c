use serde_json::json;
use windlass::core::log::ids::CallId;

use super::*;

const CALL: CallId = CallId { model_call: 1, index: 0 };

#[test]
fn what_is_neither_allow_nor_deny_denies() {
    for reply in [json!(null), json!({}), json!({"behavior": "maybe"}), json!("allow")] {
        assert!(matches!(PermissionReply::parse(&reply), PermissionReply::Deny { .. }), "{reply}");
    }
}

#[test]
fn an_interrupted_call_is_run_again_or_left() {
    let kind = QuestionKind::Uncertain { call: CALL };
    let allowed = PermissionReply::parse(&json!({"behavior": "allow", "updatedInput": {}}));
    assert_eq!(allowed.into_answer(&kind, (&json!({}), Path::new("/work"))), HumanAnswer::Retry {});
    let denied = PermissionReply::parse(&json!({"behavior": "deny", "message": "no"}));
    assert_eq!(
        denied.into_answer(&kind, (&json!({}), Path::new("/work"))),
        HumanAnswer::Abandon {}
    );
}

#[test]
fn a_question_of_the_model_gets_the_answers() {
    let kind = QuestionKind::ModelQuestion { call: CALL };
    let reply = json!({"behavior": "allow", "updatedInput": {
        "questions": [{"question": "Which color?"}], "answers": {"Which color?": "blue"},
    }});
    let answer =
        PermissionReply::parse(&reply).into_answer(&kind, (&json!({}), Path::new("/work")));
    assert_eq!(answer, HumanAnswer::Text { text: "Which color?: blue".into() });
}

#[test]
fn a_plan_is_accepted_with_or_without_edits() {
    let kind = QuestionKind::Plan { call: CALL, plan: "1. Do it.".into() };
    let plain = json!({"behavior": "allow"});
    let edits = json!({"behavior": "allow", "updatedPermissions": [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]});
    let answer = |reply: &Value| {
        PermissionReply::parse(reply).into_answer(&kind, (&json!({}), Path::new("/work")))
    };
    assert_eq!(answer(&plain), HumanAnswer::allow());
    assert_eq!(answer(&edits), HumanAnswer::Continue {});
}

#[test]
fn an_approval_may_change_the_input_and_the_permissions() {
    let kind = QuestionKind::Approval { call: CALL };
    let asked = json!({"command": "rm -r x"});
    let answer = |reply: &Value| {
        PermissionReply::parse(reply).into_answer(&kind, (&asked, Path::new("/work")))
    };
    // Python sends the input back even if it is the same.
    let same = json!({"behavior": "allow", "updatedInput": asked});
    assert_eq!(answer(&same), HumanAnswer::allow());
    let other = json!({"command": "ls x"});
    let changed = answer(&json!({"behavior": "allow", "updatedInput": other}));
    assert_eq!(changed, HumanAnswer::allow().with_changed_input(RawJson::encode(&other)));
    let stop = answer(&json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    assert_eq!(stop, HumanAnswer::deny_and_interrupt("stop"));
}
