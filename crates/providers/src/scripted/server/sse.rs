//! Writing server-sent events.

use serde::Serialize;

/// Appends an event with a name.
pub(super) fn named(out: &mut String, name: &str, data: &impl Serialize) {
    out.push_str("event: ");
    out.push_str(name);
    out.push('\n');
    unnamed(out, data);
}

/// Appends an event without a name.
pub(super) fn unnamed(out: &mut String, data: &impl Serialize) {
    out.push_str("data: ");
    out.push_str(&json(data));
    out.push_str("\n\n");
}

/// One line of JSON: a line break would end the event's line. Raw JSON of a script may hold one,
/// between its tokens only, where a space means the same.
pub(super) fn json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default().replace(['\n', '\r'], " ")
}
