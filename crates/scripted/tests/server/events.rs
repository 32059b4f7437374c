//! Parses server-sent events.

use serde_json::Value;

/// An event's name, which may be missing, and its data.
pub(crate) type Event = (String, Value);

/// All complete events of a body; `[DONE]` is a string.
pub(crate) fn events(body: &str) -> Vec<Event> {
    let complete = body.split_inclusive("\n\n").filter(|event| event.ends_with("\n\n"));
    complete.filter_map(event).collect()
}

fn event(text: &str) -> Option<Event> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let data = field("data: ")?;
    let data = serde_json::from_str(data).unwrap_or_else(|_| Value::from(data));
    Some((field("event: ").unwrap_or_default().to_owned(), data))
}

/// The names of events, repeated ones once.
pub(crate) fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

/// The data of all events with a name.
pub(crate) fn named<'a>(events: &'a [Event], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|(found, _)| found == name).map(|(_, data)| data).collect()
}
