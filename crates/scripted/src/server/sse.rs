//! Writes server-sent events.

use serde::Serialize;

/// Appends an event with a name.
pub(super) fn write_named_event(out: &mut String, name: &str, data: &impl Serialize) {
    out.push_str("event: ");
    out.push_str(name);
    out.push('\n');
    write_event(out, data);
}

/// Appends an event without a name.
pub(super) fn write_event(out: &mut String, data: &impl Serialize) {
    out.push_str("data: ");
    out.push_str(&to_json_line(data));
    out.push_str("\n\n");
}

/// The data of the events in a text that was written here.
pub(super) fn event_data(events: &str) -> impl Iterator<Item = &str> {
    events.lines().filter_map(|line| line.strip_prefix("data: "))
}

/// JSON on one line: a line break would end the event's line. Raw JSON of a script may contain one,
/// but only between its tokens, where a space means the same.
pub(super) fn to_json_line(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_default().replace(['\n', '\r'], " ")
}
