use crate::log::ids::CallId;
use crate::log::input::Classification;
use crate::run::conversation::Conversation;
use crate::run::side_requests::parse_classification;

#[test]
fn one_clear_word_is_an_opinion_and_anything_else_is_doubt() {
    for yes in ["allow", " Allow.\n", "ALLOW"] {
        assert_eq!(parse_classification(yes), Classification::Allow {});
    }
    assert!(matches!(parse_classification("deny."), Classification::Deny { .. }));
    for doubt in
        ["ask", "", "allow it", "allow deny", "I would allow", "{\"allow\":true}", "ａｌｌｏｗ"]
    {
        assert!(matches!(parse_classification(doubt), Classification::Unsure { .. }), "{doubt}");
    }
}

#[test]
fn a_conversation_that_wants_nothing_asks_nobody() {
    let idle = Conversation::default();
    assert!(idle.summary_request().is_none());
    assert!(idle.classify_request(CallId { model_call: 0, index: 0 }).is_none());
}
