//! Pages as Markdown.

use htmd::HtmlToMarkdown;

/// Elements that are left out: they are not what a page says.
const SKIPPED: [&str; 11] = [
    "script", "style", "noscript", "template", "iframe", "svg", "head", "nav", "footer", "form",
    "button",
];

/// The deepest nesting that is converted; a deeper page becomes plain text.
const MAX_DEPTH: usize = 400;

/// Elements that have no end.
const VOID_ELEMENTS: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Decodes text in the character set that its media type names; UTF-8 if none.
pub(crate) fn decode_text(bytes: &[u8], content_type: &str) -> String {
    let charset =
        content_type.split_once("charset=").map(|(_, name)| name.trim_matches(['"', ' ']));
    match charset {
        Some(name) if name.starts_with("iso-8859-1") || name.starts_with("windows-1252") => {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        }
        Some(_) | None => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Returns whether content is a page rather than plain text.
pub(crate) fn is_html(content_type: &str, text: &str) -> bool {
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let begins = text.trim_start().get(..15).unwrap_or_default().to_ascii_lowercase();
    media == "text/html"
        || media == "application/xhtml+xml"
        || (media.is_empty()
            && (begins.starts_with("<!doctype html") || begins.starts_with("<html")))
}

/// Converts a page to Markdown.
pub(crate) fn to_markdown(html: &str) -> String {
    if nesting_depth(html) > MAX_DEPTH {
        return without_tags(html);
    }
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    converter.convert(html).unwrap_or_else(|_| without_tags(html)).trim().to_owned()
}

/// The title of a page.
pub(crate) fn title_of(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let begin = lower.find("<title")?;
    let open = begin + lower.get(begin..)?.find('>')? + 1;
    let end = open + lower.get(open..)?.find("</title")?;
    let title = html.get(open..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// The deepest nesting of elements, at least.
fn nesting_depth(html: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut deepest = 0;
    for tag in html.split('<').skip(1) {
        let is_end = tag.starts_with('/');
        let tag = tag.strip_prefix('/').unwrap_or(tag);
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(tag.len());
        let name = tag.get(..end).unwrap_or_default();
        let is_element = name.starts_with(|c: char| c.is_ascii_alphabetic());
        match is_end {
            true => {
                if let Some(at) = open.iter().rposition(|known| known.eq_ignore_ascii_case(name)) {
                    open.truncate(at);
                }
            }
            false if is_element && !is_void(name) => open.push(name),
            false => {}
        }
        deepest = deepest.max(open.len());
        if deepest > MAX_DEPTH {
            break;
        }
    }
    deepest
}

fn is_void(name: &str) -> bool {
    VOID_ELEMENTS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The text of a page without its tags.
fn without_tags(html: &str) -> String {
    let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
    text.join(" ")
}
