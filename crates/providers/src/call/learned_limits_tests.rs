use crate::call::learned_limits::RejectionHint;
use crate::error::call_error::CallError;

fn hint_in(message: &str) -> Option<RejectionHint> {
    let (kind, message) = ("invalid_request_error".to_owned(), message.to_owned());
    RejectionHint::from_error(&CallError::HttpStatus {
        status: 400,
        kind,
        message,
        advice: "",
        retry_after_ms: None,
    })
}

#[test]
fn an_output_limit_is_learned() {
    let output =
        "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for x";
    assert_eq!(hint_in(output), Some(RejectionHint::OutputLimit(128_000)));
    let output = "max_tokens is too large: 99999. This model supports at most 16384 completion tokens, \
                whereas you provided 99999.";
    assert_eq!(hint_in(output), Some(RejectionHint::OutputLimit(16_384)));
}

#[test]
fn a_window_is_learned() {
    let all = [
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", 8_192),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
    ];
    for (output, tokens) in all {
        assert_eq!(hint_in(output), Some(RejectionHint::Window(tokens)), "{output}");
    }
}

#[test]
fn other_ways_of_asking_are_learned() {
    assert_eq!(
        hint_in("streaming is not supported by this model"),
        Some(RejectionHint::StreamingUnsupported)
    );
    let output = "messages.1.content.0: Invalid `signature` in `thinking` block";
    assert_eq!(hint_in(output), Some(RejectionHint::ForeignThinking));
}

#[test]
fn most_refusals_teach_nothing() {
    assert_eq!(hint_in("max_tokens: must be positive"), None);
    assert_eq!(hint_in("messages: roles must alternate"), None);
    assert_eq!(RejectionHint::from_error(&CallError::IdleTimeout(1)), None);
}
