//! `@path` in a prompt: the file, or the names in the folder, goes with it. The prompt stays as it
//! was typed, and a mention that names nothing is only text.

use windlass::core::block::Block;
use windlass::core::ids::LaneId;
use windlass::tools::{Attached, Workplace};

use crate::show;
use crate::words;

#[cfg(test)]
#[path = "mentions_tests.rs"]
mod mentions_tests;

/// Paths that are looked at for one prompt.
const MOST_MENTIONS: usize = 20;

/// Bytes that go with one prompt; what is beyond, the model can read for itself.
const MOST_BYTES: usize = 8 << 20;

/// Signs that end a sentence and not a path.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`'];

/// The prompt as it is sent: what it mentions first, each once, then the words.
pub(crate) fn blocks(prompt: &str, workplace: &Workplace, lane: &LaneId) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for mention in mentions(prompt).take(MOST_MENTIONS) {
        let Some((path, attached)) = find(mention, workplace, lane) else { continue };
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        let attached = said(path, attached);
        bytes += attached.iter().map(|block| block.raw().text().len()).sum::<usize>();
        if bytes > MOST_BYTES {
            show::note(&words::not_attached(path, "too much is attached already"));
            break;
        }
        blocks.extend(attached);
    }
    blocks.push(Block::text(prompt));
    blocks
}

/// What stands behind every `@` that begins a word.
fn mentions(prompt: &str) -> impl Iterator<Item = &str> {
    let begins = |at: usize| {
        let before = prompt.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '"' | '\'' | '`'))
    };
    let signs = prompt.match_indices('@').filter(move |(at, _)| begins(*at));
    signs.filter_map(|(at, _)| mention(prompt.get(at + 1..)?))
}

/// A path ends with the word it is, or with the quote it begins with.
fn mention(rest: &str) -> Option<&str> {
    let path = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => rest.split(char::is_whitespace).next()?,
    };
    (!path.is_empty()).then_some(path)
}

/// What a mention names: all of it, or without what only ends the sentence.
fn find<'p>(mention: &'p str, workplace: &Workplace, lane: &LaneId) -> Option<(&'p str, Attached)> {
    let trimmed = mention.trim_end_matches(CLOSING);
    let tried = if trimmed == mention { vec![mention] } else { vec![mention, trimmed] };
    for path in tried.into_iter().filter(|path| !path.is_empty()) {
        match workplace.attach(lane, path) {
            Ok(Some(attached)) => return Some((path, attached)),
            Ok(None) => {}
            Err(refused) => {
                show::note(&words::not_attached(path, &refused.message));
                return None;
            }
        }
    }
    None
}

fn said(path: &str, attached: Attached) -> Vec<Block> {
    match attached {
        Attached::Folder(names) => vec![Block::text(&words::attached_folder(path, &names))],
        Attached::File(content) => match content.read::<String>() {
            Ok(text) => vec![Block::text(&words::attached_file(path, &text))],
            Err(_) => {
                let shown = content.read::<Vec<Block>>().unwrap_or_default();
                [vec![Block::text(&words::attached_file(path, ""))], shown].concat()
            }
        },
    }
}
