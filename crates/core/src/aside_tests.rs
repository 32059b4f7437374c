use crate::aside::opinion;
use crate::conversation::Conversation;
use crate::ids::CallId;
use crate::input::Opinion;

#[test]
fn one_clear_word_is_an_opinion_and_anything_else_is_doubt() {
    for yes in ["allow", " Allow.\n", "ALLOW"] {
        assert_eq!(opinion(yes), Opinion::Allow {});
    }
    assert!(matches!(opinion("deny."), Opinion::Deny { .. }));
    for doubt in
        ["ask", "", "allow it", "allow deny", "I would allow", "{\"allow\":true}", "ａｌｌｏｗ"]
    {
        assert!(matches!(opinion(doubt), Opinion::Unsure { .. }), "{doubt}");
    }
}

#[test]
fn a_conversation_that_wants_nothing_asks_nobody() {
    let idle = Conversation::default();
    assert!(idle.summary_request().is_none());
    assert!(idle.classify_request(CallId { ask: 0, index: 0 }).is_none());
}
