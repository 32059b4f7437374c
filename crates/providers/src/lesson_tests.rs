use crate::fault::Fault;
use crate::lesson::Lesson;

fn lesson(message: &str) -> Option<Lesson> {
    let (kind, message) = ("invalid_request_error".to_owned(), message.to_owned());
    Lesson::of(&Fault::Refused { status: 400, kind, message, advice: "", retry_after_ms: None })
}

#[test]
fn an_output_limit_is_learned() {
    let said =
        "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for x";
    assert_eq!(lesson(said), Some(Lesson::OutputLimit(128_000)));
    let said = "max_tokens is too large: 99999. This model supports at most 16384 completion tokens, \
                whereas you provided 99999.";
    assert_eq!(lesson(said), Some(Lesson::OutputLimit(16_384)));
}

#[test]
fn a_window_is_learned() {
    let all = [
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000", 8_192),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
    ];
    for (said, tokens) in all {
        assert_eq!(lesson(said), Some(Lesson::Window(tokens)), "{said}");
    }
}

#[test]
fn other_ways_of_asking_are_learned() {
    assert_eq!(lesson("streaming is not supported by this model"), Some(Lesson::NoStream));
    let said = "messages.1.content.0: Invalid `signature` in `thinking` block";
    assert_eq!(lesson(said), Some(Lesson::ForeignThoughts));
}

#[test]
fn most_refusals_teach_nothing() {
    assert_eq!(lesson("max_tokens: must be positive"), None);
    assert_eq!(lesson("messages: roles must alternate"), None);
    assert_eq!(Lesson::of(&Fault::Silent(1)), None);
}
