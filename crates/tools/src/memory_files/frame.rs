//! Frames a memory file so that the model can tell it from the user's words (against prompt
//! injection).

use std::path::Path;

/// The tag of the frame.
const FRAME_TAG: &str = "memory-file";

/// Returns the text of a memory file in its frame. Text that looks like the frame itself is
/// escaped, so that a file cannot close the frame.
#[must_use]
pub fn frame_memory_file(path: &Path, text: &str) -> String {
    let path = escape_attribute(&path.to_string_lossy());
    format!("<{FRAME_TAG} path=\"{path}\">\n{}\n</{FRAME_TAG}>", escape_tags(text))
}

fn escape_attribute(path: &str) -> String {
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
            let begins = name
                .get(..FRAME_TAG.len())
                .is_some_and(|name| name.eq_ignore_ascii_case(FRAME_TAG));
            escaped.push_str(if begins { "&lt;" } else { "<" });
        }
        escaped.push_str(part);
    }
    escaped
}
