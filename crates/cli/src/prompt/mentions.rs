//! `@path` in a prompt: the file, or the names in the folder, is attached. The prompt stays as it
//! was typed, and a mention that names nothing is only text.

use windlass::core::log::ids::LaneId;
use windlass::core::message::content_block::ContentBlock;
use windlass::tools::{Attachment, ToolContext};

use crate::{messages, terminal};

#[cfg(test)]
#[path = "mentions_tests.rs"]
mod mentions_tests;

/// What a mention of a sub-agent begins with; its name follows.
pub(crate) const AGENT_MENTION_PREFIX: &str = "agent-";

/// Maximum number of paths for one prompt.
pub(super) const MAX_MENTIONS: usize = 20;

/// Maximum bytes attached to one prompt; the model can read the rest by itself.
const MAX_ATTACHED_BYTES: usize = 8 << 20;

/// Punctuation that ends a sentence and not a path.
pub(super) const TRAILING_PUNCTUATION: &[char] =
    &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`'];

/// The prompt as it is sent: mentioned files first, each once, then the text.
pub(crate) fn prompt_blocks(
    prompt: &str,
    workplace: &ToolContext,
    lane: &LaneId,
) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for mention in find_mentions(prompt).take(MAX_MENTIONS) {
        let Some((path, attached)) = resolve_mention(mention, workplace, lane) else { continue };
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        let attached = attachment_blocks(path, attached);
        bytes += attached.iter().map(|block| block.raw().text().len()).sum::<usize>();
        if bytes > MAX_ATTACHED_BYTES {
            terminal::print_note(&messages::not_attached(path, "the attachment limit is reached"));
            break;
        }
        blocks.extend(attached);
    }
    blocks.push(ContentBlock::text(prompt));
    blocks
}

/// The text after every `@` that starts a word.
pub(super) fn find_mentions(prompt: &str) -> impl Iterator<Item = &str> {
    let begins = |at: usize| {
        let before = prompt.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '"' | '\'' | '`'))
    };
    let signs = prompt.match_indices('@').filter(move |(at, _)| begins(*at));
    signs.filter_map(|(at, _)| parse_mention(prompt.get(at + 1..)?))
}

/// Parses a path, which ends with its word, or with the quote it starts with.
fn parse_mention(rest: &str) -> Option<&str> {
    let path = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => rest.split(char::is_whitespace).next()?,
    };
    (!path.is_empty()).then_some(path)
}

/// Resolves a mention to a path: all of it, or without the punctuation of the sentence.
fn resolve_mention<'p>(
    mention: &'p str,
    workplace: &ToolContext,
    lane: &LaneId,
) -> Option<(&'p str, Attachment)> {
    let trimmed = mention.trim_end_matches(TRAILING_PUNCTUATION);
    let tried = if trimmed == mention { vec![mention] } else { vec![mention, trimmed] };
    for path in tried.into_iter().filter(|path| !path.is_empty()) {
        match workplace.attach(lane, path) {
            Ok(Some(attached)) => return Some((path, attached)),
            Ok(None) => {}
            Err(refused) => {
                terminal::print_note(&messages::not_attached(path, &refused.message));
                return None;
            }
        }
    }
    None
}

fn attachment_blocks(path: &str, attached: Attachment) -> Vec<ContentBlock> {
    match attached {
        Attachment::Folder(names) => {
            vec![ContentBlock::text(&messages::attached_folder(path, &names))]
        }
        Attachment::File(content) => match content.read::<String>() {
            Ok(text) => vec![ContentBlock::text(&messages::attached_file(path, &text))],
            Err(_) => {
                let shown = content.read::<Vec<ContentBlock>>().unwrap_or_default();
                [vec![ContentBlock::text(&messages::attached_file(path, ""))], shown].concat()
            }
        },
    }
}
