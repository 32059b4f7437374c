//! What a tool's name says of it: whether it looks something up. A lookup is tried again when it
//! fails in passing; whatever sends, saves, creates or updates is not, and neither is a name that
//! says nothing.

/// First words of names that look something up.
const LOOKS: [&str; 12] = [
    "check", "count", "describe", "fetch", "find", "get", "list", "lookup", "query", "read",
    "search", "view",
];

/// Words that change something, wherever they stand.
const CHANGES: [&str; 30] = [
    "add", "and", "append", "apply", "buy", "cancel", "clear", "create", "delete", "deploy",
    "edit", "insert", "mark", "move", "next", "pay", "pop", "post", "publish", "put", "remove",
    "reset", "run", "save", "send", "set", "submit", "update", "upload", "write",
];

/// Whether a call of a tool of this name only looks something up.
pub(crate) fn is_lookup(name: &str) -> bool {
    let words = words(name);
    let first = words.first().map(String::as_str).unwrap_or_default();
    let changes = words.iter().any(|word| CHANGES.contains(&word.as_str()));
    LOOKS.contains(&first) && !changes
}

/// The words of `list_open_orders`, `list-open-orders` and `listOpenOrders`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
