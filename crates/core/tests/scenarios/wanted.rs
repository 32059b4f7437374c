//! The effects that should be in flight, for each state.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::{FailureClass, HookDecision};
use windlass_core::settings::conversation_settings::HookPresence;

use crate::kit::{Lane, call, calls, passing, text};

// spec: LOG-07
#[test]
fn every_state_wants_what_it_lacks() {
    let asking = || Lane::new().prompt("hi");
    let down = ToolError::new("http_503", "down", "later").into_transient();
    let hooked = || {
        Lane::with(|settings| {
            settings.hooks.before_tool = HookPresence::Present;
            settings.hooks.after_tool = HookPresence::Present;
        })
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]))
    };
    Lane::bare().wants("").wakes_at(None);
    Lane::new().wants("").wakes_at(None);
    asking().wants("model 1").wakes_at(None);
    asking().reply(text("a")).wants("").wakes_at(None);
    asking().fails(passing(FailureClass::Transient)).wants("").wakes_in(1_000);
    asking().reply(calls([call("t1", "read", "/a")])).wants("run 1.0#1").wakes_at(None);
    asking().reply(calls([call("t1", "deploy", "/a")])).wants("").wakes_at(None);
    asking().reply(calls([call("t1", "fetch", "/a")])).errs(0, down).wants("").wakes_in(500);
    hooked().wants("pre-hook 1.0");
    hooked().hook(0, HookDecision::Pass {}).returns(0, "A").wants("post-hook 1.0");
    asking().reply(calls([call("t1", "send", "/a")])).owner_changes().wants("probe 1.0");
    asking().reply(calls([call("t1", "write", "/a")])).owner_changes().wants("").wakes_at(None);
    asking().owner_changes_with_hash("other").wants("").wakes_at(None);
    asking()
        .owner_changes_with_hash("other")
        .answer(HumanAnswer::Continue {})
        .wants("record settings");
}

#[test]
fn a_request_is_there_exactly_while_the_model_is_asked() {
    let asking = Lane::new().prompt("hi");
    let request = asking.live.model_request().unwrap();
    assert_eq!((request.model_call, request.max_tokens), (1, 4_096));
    assert_eq!(request.messages().len(), 1);
    assert!(asking.clone().reply(text("a")).live.model_request().is_none());
    assert!(asking.clone().fails(passing(FailureClass::Transient)).live.model_request().is_none());
    assert!(asking.reply(calls([call("t1", "read", "/a")])).live.model_request().is_none());
    assert!(Lane::bare().live.model_request().is_none());
}

// spec: INV-05
#[test]
fn within_a_generation_requests_only_grow_at_the_end() {
    for (name, lane) in crate::golden::stories() {
        let mut now = windlass_core::Conversation::default();
        let mut sent: Option<windlass_core::message::transcript::Transcript> = None;
        for entry in &lane.log {
            now.fold(entry).unwrap();
            let Some(request) = now.model_request() else { continue };
            let new = request.transcript;
            if let Some(old) = sent.filter(|old| old.generation() == new.generation()) {
                let same = new.segments().iter().zip(old.segments()).all(|(a, b)| a == b);
                let grows = new.segments().len() >= old.segments().len();
                assert!(same && grows, "{name} at {}", entry.seq);
            }
            sent = Some(new);
        }
    }
}
