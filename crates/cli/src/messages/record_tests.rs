//! Every record of the golden logs in every style.

use std::path::Path;

use super::{MessageContext, MessageStyle, RecordSource, record_message};
use crate::inspect::history::ConversationHistory;

/// Calls `check` with the message of every record of the golden logs; returns how many there were.
fn for_each_message(style: MessageStyle, check: impl Fn(&str, bool)) -> usize {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/logs/v1");
    let mut count = 0;
    for file in std::fs::read_dir(logs).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|kind| kind != "jsonl") {
            continue;
        }
        let lines = std::fs::read_to_string(&file).unwrap();
        let history = ConversationHistory::from_lines("golden", lines.lines());
        history.for_each_record(|moment| {
            let live =
                RecordSource::Live { names: &std::collections::BTreeMap::new(), retry: None };
            let context = match style {
                MessageStyle::Live => MessageContext { source: live, ..moment.message_context() },
                MessageStyle::Timeline | MessageStyle::Explain => moment.message_context(),
            };
            if let Some(message) = record_message(style, &context) {
                count += 1;
                check(&message.text, message.topic.is_some());
            }
        });
    }
    count
}

#[test]
fn live_lines_are_indented_and_have_no_section() {
    let count = for_each_message(MessageStyle::Live, |text, has_topic| {
        assert!(text.starts_with("  ") && !text.contains('\n') && !has_topic, "{text:?}");
    });
    assert!(count > 100, "{count}");
}

#[test]
fn timeline_lines_are_not_sentences() {
    let count = for_each_message(MessageStyle::Timeline, |text, has_topic| {
        let is_lower = text.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit());
        let is_name = text.starts_with(char::is_uppercase) && text.contains(' ');
        assert!((is_lower || is_name) && !has_topic, "{text:?}");
    });
    assert!(count > 100, "{count}");
}

#[test]
fn explanations_are_sentences_in_a_section() {
    let count = for_each_message(MessageStyle::Explain, |text, has_topic| {
        assert!(has_topic && (text.ends_with('.') || text.contains(": ")), "{text:?}");
    });
    assert!(count > 50, "{count}");
}
