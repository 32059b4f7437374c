//! The frame around a memory file: the model must be able to tell its words from those of its user.

use std::path::Path;

/// The name of the frame.
const TAG: &str = "memory-file";

/// The text of a memory file in its frame. Text that looks like the frame itself is escaped, so that
/// a file cannot end it and speak as somebody else.
#[must_use]
pub fn memory_frame(path: &Path, text: &str) -> String {
    let path = attribute(&path.to_string_lossy());
    format!("<{TAG} path=\"{path}\">\n{}\n</{TAG}>", escape_tags(text))
}

fn attribute(path: &str) -> String {
    let escape = |c: char| match c {
        '"' => "&quot;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        c if c.is_control() => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    };
    path.chars().map(escape).collect()
}

/// Escapes every `<` that begins the frame's own tag, however it is written.
fn escape_tags(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, part) in text.split('<').enumerate() {
        if at > 0 {
            let name = part.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
            let begins = name.get(..TAG.len()).is_some_and(|name| name.eq_ignore_ascii_case(TAG));
            escaped.push_str(if begins { "&lt;" } else { "<" });
        }
        escaped.push_str(part);
    }
    escaped
}
