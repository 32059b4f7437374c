//! The composer: the prompt that is being written, its history, and pastes that are shown as a
//! placeholder. Pure; the session decides what a sent prompt means.

use serde::{Deserialize, Serialize};

use super::key_decoder::Key;
use super::rows::{accent, paint};
use super::text_buffer::TextBuffer;
use super::vi_keys::ViState;
use crate::terminal::number_format::count_noun;
use crate::terminal::{Color, escape_invisible};

/// Lines and characters from which on a paste is shown as a placeholder.
const FOLDED_PASTE_LINES: usize = 6;
const FOLDED_PASTE_CHARS: usize = 1_000;

/// How the names of images end that can be attached.
const IMAGE_ENDINGS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// Maximum prompts that are remembered.
pub(super) const MAX_HISTORY: usize = 1_000;

/// What is not sent yet, as it is kept for the next start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) text: String,
    #[serde(default)]
    pub(super) pastes: Vec<String>,
    /// Prompts that wait for the run to end.
    #[serde(default)]
    pub(super) queue: Vec<String>,
    /// Output of the user's commands, for the next prompt.
    #[serde(default)]
    pub(super) context: Vec<String>,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.queue.is_empty() && self.context.is_empty()
    }
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// The key changed the text or the cursor.
    Edited,
    /// The key has no meaning for the text.
    NotMine,
}

/// The prompt in progress.
#[derive(Debug, Clone, Default)]
pub(super) struct Composer {
    pub(super) buffer: TextBuffer,
    pastes: Vec<String>,
    history: Vec<String>,
    /// The entry of the history that is shown, and what was written before.
    recalled: Option<(usize, String)>,
    search: Option<HistorySearch>,
    /// The state of vi keys, if they are on.
    pub(super) vi: Option<ViState>,
}

/// A search in the history (Ctrl-R).
#[derive(Debug, Clone)]
struct HistorySearch {
    query: String,
    /// The entry that was found.
    found: Option<usize>,
    before: String,
}

impl Composer {
    pub(super) fn new(history: Vec<String>) -> Self {
        Self { history, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Whether the history is searched.
    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    pub(super) fn draft(&self, queue: &[String], context: &[String]) -> Draft {
        let text = self.buffer.text().to_owned();
        let pastes = if text.is_empty() { Vec::new() } else { self.pastes.clone() };
        Draft { text, pastes, queue: queue.to_vec(), context: context.to_vec() }
    }

    pub(super) fn restore(&mut self, draft: &Draft) {
        self.pastes.clone_from(&draft.pastes);
        self.buffer.set(&draft.text);
    }

    /// Puts a text back that was not sent.
    pub(super) fn put_back(&mut self, text: &str) {
        let typed = self.buffer.text().to_owned();
        let gap = if typed.is_empty() { "" } else { "\n" };
        self.buffer.set(&format!("{text}{gap}{typed}"));
    }

    /// Takes the prompt, with the text of its pastes, and remembers it.
    pub(super) fn submit(&mut self) -> String {
        let typed = self.buffer.take();
        let text = self.expand(&typed);
        self.pastes.clear();
        if let Some(vi) = &mut self.vi {
            vi.is_normal = false;
        }
        self.recalled = None;
        text
    }

    /// Adds a prompt to the history.
    pub(super) fn remember(&mut self, text: &str) {
        if !text.trim().is_empty() && self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_owned());
            let too_many = self.history.len().saturating_sub(MAX_HISTORY);
            self.history.drain(..too_many);
        }
    }

    /// The text with its pastes in the place of their placeholders.
    pub(super) fn expand(&self, typed: &str) -> String {
        let mut text = typed.to_owned();
        for (at, paste) in self.pastes.iter().enumerate() {
            text = text.replacen(&placeholder(at, paste), paste, 1);
        }
        text
    }

    fn paste(&mut self, text: &str) {
        if let Some(mention) = image_mention(text) {
            return self.buffer.insert(&mention);
        }
        let is_long = text.lines().count() >= FOLDED_PASTE_LINES
            || text.chars().nth(FOLDED_PASTE_CHARS).is_some();
        if !is_long {
            return self.buffer.insert(text);
        }
        let shown = placeholder(self.pastes.len(), text);
        self.pastes.push(text.to_owned());
        self.buffer.insert(&shown);
    }

    pub(super) fn on_key(&mut self, key: &Key) -> KeyUse {
        if self.search.is_some() {
            return self.on_search_key(key);
        }
        if self.on_vi_key(key) {
            return KeyUse::Edited;
        }
        let buffer = &mut self.buffer;
        match key {
            Key::Char(c) => buffer.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.paste(text),
            Key::Ctrl('j') => buffer.insert("\n"),
            Key::Backspace | Key::Ctrl('h') => self.backspace(),
            Key::Delete => buffer.delete_next(),
            Key::Ctrl('d') if !buffer.is_empty() => buffer.delete_next(),
            Key::Left | Key::Ctrl('b') => buffer.left(),
            Key::Right | Key::Ctrl('f') => buffer.right(),
            Key::WordLeft => buffer.word_left(),
            Key::WordRight => buffer.word_right(),
            Key::Home | Key::Ctrl('a') => buffer.move_to_line_start(),
            Key::End | Key::Ctrl('e') => buffer.move_to_line_end(),
            Key::Alt('<') => buffer.move_to_start(),
            Key::Alt('>') => buffer.move_to_end(),
            Key::Ctrl('k') => buffer.kill_to_line_end(),
            Key::Ctrl('u') => buffer.kill_to_line_start(),
            Key::Ctrl('w') => buffer.kill_blank_word_before(),
            Key::AltBackspace => buffer.kill_word_before(),
            Key::Alt('d') => buffer.kill_word_after(),
            Key::Ctrl('y') => buffer.yank(),
            Key::Ctrl('_') => buffer.undo(),
            Key::Up if buffer.up() => {}
            Key::Up | Key::Ctrl('p') => self.recall_older(),
            Key::Down if buffer.down() => {}
            Key::Down | Key::Ctrl('n') => self.recall_newer(),
            Key::Ctrl('r') => self.begin_search(),
            _ => return KeyUse::NotMine,
        }
        KeyUse::Edited
    }

    /// Deletes a character, or the placeholder of a paste as a whole.
    fn backspace(&mut self) {
        let before = self.buffer.before();
        let mut shown = self.pastes.iter().enumerate().map(|(at, paste)| placeholder(at, paste));
        match shown.find(|shown| before.ends_with(shown.as_str())) {
            Some(shown) => {
                let from = before.len() - shown.len();
                self.buffer.replace_before(from, "");
            }
            None => self.buffer.backspace(),
        }
    }

    pub(super) fn recall_older(&mut self) {
        let (at, typed) = match self.recalled.take() {
            Some((at, typed)) => (at.checked_sub(1), typed),
            None => (self.history.len().checked_sub(1), self.buffer.text().to_owned()),
        };
        let entry = at.and_then(|at| self.history.get(at).map(|entry| (at, entry.clone())));
        match entry {
            Some((at, entry)) => {
                self.buffer.set(&entry);
                self.recalled = Some((at, typed));
            }
            None if !self.history.is_empty() => self.recalled = Some((0, typed)),
            None => {}
        }
    }

    pub(super) fn recall_newer(&mut self) {
        let Some((at, typed)) = self.recalled.take() else { return };
        match self.history.get(at + 1).cloned() {
            Some(entry) => {
                self.buffer.set(&entry);
                self.recalled = Some((at + 1, typed));
            }
            None => self.buffer.set(&typed),
        }
    }

    pub(super) fn begin_search(&mut self) {
        let before = self.buffer.text().to_owned();
        self.search = Some(HistorySearch { query: String::new(), found: None, before });
    }

    fn on_search_key(&mut self, key: &Key) -> KeyUse {
        let Some(mut search) = self.search.take() else { return KeyUse::NotMine };
        match key {
            Key::Char(c) => {
                search.query.push(*c);
                search.found = self.find_older(&search.query, self.history.len());
            }
            Key::Backspace | Key::Ctrl('h') => {
                search.query.pop();
                search.found = self.find_older(&search.query, self.history.len());
            }
            Key::Ctrl('r') | Key::Up => {
                let from = search.found.unwrap_or(self.history.len());
                search.found = self.find_older(&search.query, from).or(search.found);
            }
            Key::Escape | Key::Ctrl('g' | 'c') => {
                self.buffer.set(&search.before);
                return KeyUse::Edited;
            }
            // Every other key takes what was found.
            Key::Enter | Key::Tab => return KeyUse::Edited,
            key => {
                self.on_key(key);
                return KeyUse::Edited;
            }
        }
        if let Some(entry) = search.found.and_then(|at| self.history.get(at)).cloned() {
            self.buffer.set(&entry);
        }
        self.search = Some(search);
        KeyUse::Edited
    }

    fn find_older(&self, query: &str, before: usize) -> Option<usize> {
        let query = query.to_lowercase();
        let older = self.history.get(..before)?;
        older.iter().rposition(|entry| entry.to_lowercase().contains(&query))
    }

    /// The row of the search, if the history is searched.
    pub(super) fn search_row(&self) -> Option<String> {
        let search = self.search.as_ref()?;
        let failed = search.found.is_none() && !search.query.is_empty();
        let label = if failed { "no prompt contains" } else { "search the history" };
        let query = escape_invisible(&search.query);
        Some(format!(
            "{} {query}  {}",
            accent(label),
            paint(Color::Dim, "Ctrl-R older · Enter take · Esc back")
        ))
    }
}

/// The mention that attaches an image, if that is what a pasted text names: terminals paste the path
/// of a file that is dropped on them, quoted or escaped.
fn image_mention(text: &str) -> Option<String> {
    let text = text.trim();
    let unquoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let unquoted = unquoted.or_else(|| text.strip_prefix('"').and_then(|t| t.strip_suffix('"')));
    let path = unquoted.map_or_else(|| text.replace("\\ ", " "), str::to_owned);
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let name = path.to_ascii_lowercase();
    let is_image = IMAGE_ENDINGS.iter().any(|ending| name.ends_with(ending));
    let is_path = path.starts_with(['/', '~', '.']) || !path.contains(char::is_whitespace);
    if !is_image || !is_path || path.contains(['\n', '"', '@']) {
        return None;
    }
    Some(match path.contains(char::is_whitespace) {
        true => format!("@\"{path}\" "),
        false => format!("@{path} "),
    })
}

/// What stands for a paste in the text.
fn placeholder(at: usize, paste: &str) -> String {
    let lines = paste.lines().count();
    format!("[Pasted text #{}: {}]", at + 1, count_noun(lines as u64, "line"))
}

#[cfg(test)]
#[path = "composer_tests.rs"]
mod composer_tests;
