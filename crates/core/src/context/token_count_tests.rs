use std::sync::Arc;

use super::compaction_preview::preview_compaction;
use super::token_count::count_tokens;
use crate::message::content_block::ContentBlock;
use crate::message::raw_json::RawJson;
use crate::run::conversation::CompactionRequest;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::{ModelSpec, Settings};

fn tokens(text: &str) -> u64 {
    count_tokens(std::iter::once(text)).unwrap()
}

/// Counts that the table's own authors publish.
// spec: WINDOW-23
#[test]
fn texts_are_counted_by_cl100k() {
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("hello world"), 2);
    assert_eq!(tokens("tiktoken is great!"), 6);
    assert_eq!(tokens("antidisestablishmentarianism"), 6);
    assert_eq!(tokens("2 + 2 = 4"), 7);
    assert_eq!(tokens("お誕生日おめでとう"), 9);
    assert_eq!(count_tokens(["hello", " world"].into_iter()), Some(2));
}

/// No text is estimated at more tokens than it has bytes, and none takes long.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test is about real time")]
fn any_text_is_counted_in_bounded_time() {
    let started = std::time::Instant::now();
    for chunk in [" ", "a", "\n", "\u{a0}", "世", "\r\n \t", "'ll ", "0"] {
        let text = chunk.repeat((8 << 20) / chunk.len());
        let tokens = tokens(&text);
        assert!(tokens > 0 && tokens <= text.len() as u64, "{chunk:?}: {tokens}");
    }
    let elapsed = started.elapsed();
    assert!(elapsed.as_secs() < 60, "{elapsed:?}");
}

/// A conversation of which no provider has counted anything yet.
fn conversation(window_tokens: u64, prompt: &str) -> Conversation {
    let mut settings = Settings::new(ModelSpec { window_tokens, ..ModelSpec::with_defaults("m") });
    settings.model.max_tokens = window_tokens / 4;
    let settings = Some(Arc::new(settings));
    let mut conversation = Conversation { settings, ..Conversation::default() };
    conversation.transcript.push_prompt(&[ContentBlock::text(prompt)]);
    conversation
}

fn estimate(conversation: &Conversation) -> u64 {
    conversation.current_meter().estimate(conversation.request_bytes())
}

/// Four bytes per token are half of what such a script needs: a request that is too long for the
/// window is recognised before it is sent.
// spec: WINDOW-23
#[test]
fn a_first_request_is_counted_where_its_bytes_leave_it_open() {
    let prompt = "漢字仮名".repeat(1_000);
    let small = conversation(8_192, &prompt);
    let counted = estimate(&small);
    assert!(counted > tokens(&prompt) && counted < tokens(&prompt) + 50, "{counted}");
    assert!(counted > small.request_bytes() / 4 * 13 / 10, "more than bytes alone would say");
    assert_eq!(
        preview_compaction(&small, CompactionRequest::NotRequested).unwrap().tokens,
        counted
    );
    // Where every byte may be a token and there is still room, nothing is counted.
    let large = conversation(200_000, &prompt);
    assert_eq!(estimate(&large), large.request_bytes() / 4);
}

/// The bytes of an image are not text.
#[test]
fn files_are_not_counted_as_text() {
    let mut with_file = conversation(8_192, "look");
    let data = "iVBORw0KGgo".repeat(4_000);
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
    );
    with_file.transcript.push_prompt(&[ContentBlock::new(RawJson::parse(image).unwrap())]);
    let bytes = with_file.request_bytes();
    assert!(estimate(&with_file).abs_diff(bytes / 4) < 50, "{}", estimate(&with_file));
}
