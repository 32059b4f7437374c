//! The strict reader: small, and independent of the grammar reader. It knows simple commands, plain
//! words, quotes, `&& || ; |`, newlines, comments and redirections; at anything else it fails.

use std::iter::Peekable;
use std::str::CharIndices;

use super::ansi_quotes;
use super::grammar_reader::{ParsedItem, RedirectTarget};
use crate::shell::command_analysis::shell_word::{
    ShellWord, WordBuilder, WordKind, decode_double_quotes,
};

/// Reserved words, which are not commands where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "select", "while", "until", "do", "done", "case",
    "esac", "in", "function", "coproc", "{", "}", "!", "[[", "]]", "((", "))",
];

/// Parses a text that consists of plain parts only; `None` for any other.
pub(crate) fn read_strictly(text: &str) -> Option<Vec<ParsedItem>> {
    let mut reader = StrictReader::new(text);
    while let Some((at, c)) = reader.rest.next() {
        reader.take_char(at, c)?;
    }
    reader.end_word(text.len())?;
    reader.end_command(CommandEnding::Line)?;
    (!reader.awaits_command).then_some(reader.items)
}

struct StrictReader<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
    items: Vec<ParsedItem>,
    words: Vec<ShellWord>,
    redirects: Vec<ParsedItem>,
    word: Option<(usize, WordBuilder)>,
    operator: Option<&'static str>,
    /// Whether an operator that joins two commands was read and the second is still to come.
    awaits_command: bool,
}

/// How a command ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandEnding {
    /// The command ends with its line, which may be empty.
    Line,
    /// The command ends with `;`.
    Semicolon,
    /// The command ends with an operator after which another command must follow.
    Joined,
}

impl<'t> StrictReader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            rest: text.char_indices().peekable(),
            items: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            word: None,
            operator: None,
            awaits_command: false,
        }
    }

    fn take_char(&mut self, at: usize, c: char) -> Option<()> {
        match c {
            ' ' | '\t' => self.end_word(at),
            '\n' => self.end_at(at, CommandEnding::Line),
            ';' => self.end_at(at, CommandEnding::Semicolon),
            '&' => self.on_ampersand(at),
            '|' => self.on_bar(at),
            '<' | '>' => self.on_redirect(at, c),
            '#' if self.word.is_none() => self.skip_comment(),
            '\'' => self.on_quote(at, '\''),
            '"' => self.on_quote(at, '"'),
            '$' => self.on_dollar(at),
            '\\' => self.on_backslash(at),
            '`' | '(' | ')' => None,
            c if c.is_control() => None,
            c => self.push_bare(at, c),
        }
    }

    fn word_builder(&mut self, at: usize) -> &mut WordBuilder {
        &mut self.word.get_or_insert_with(|| (at, WordBuilder::default())).1
    }

    fn push_bare(&mut self, at: usize, c: char) -> Option<()> {
        self.word_builder(at).push_bare(c);
        Some(())
    }

    fn is_next(&mut self, wanted: char) -> bool {
        self.rest.next_if(|(_, c)| *c == wanted).is_some()
    }

    fn on_backslash(&mut self, at: usize) -> Option<()> {
        match self.rest.next()? {
            (_, '\n') => Some(()),
            (_, c) => {
                self.word_builder(at).push_escaped(Some(c));
                Some(())
            }
        }
    }

    fn on_dollar(&mut self, at: usize) -> Option<()> {
        if !self.is_next('\'') {
            return None;
        }
        let inside = self.read_until('\'')?;
        let text = ansi_quotes::decode_ansi_quotes(inside)?;
        self.word_builder(at).push_quoted(&text);
        Some(())
    }

    fn on_quote(&mut self, at: usize, quote: char) -> Option<()> {
        let text = match quote {
            '"' => decode_double_quotes(self.read_until('"')?)?,
            _ => self.read_until_raw(quote)?.to_owned(),
        };
        self.word_builder(at).push_quoted(&text);
        Some(())
    }

    /// Returns everything before the next such quote that is not escaped.
    fn read_until(&mut self, quote: char) -> Option<&'t str> {
        let start = self.rest.peek()?.0;
        loop {
            match self.rest.next()? {
                (_, '\\') => drop(self.rest.next()?),
                (at, c) if c == quote => return self.text.get(start..at),
                _ => {}
            }
        }
    }

    fn read_until_raw(&mut self, quote: char) -> Option<&'t str> {
        let start = self.rest.peek()?.0;
        let (end, _) = self.rest.find(|(_, c)| *c == quote)?;
        self.text.get(start..end)
    }

    fn skip_comment(&mut self) -> Option<()> {
        while self.rest.next_if(|(_, c)| *c != '\n').is_some() {}
        Some(())
    }

    fn on_ampersand(&mut self, at: usize) -> Option<()> {
        if self.is_next('&') {
            return self.end_at(at, CommandEnding::Joined);
        }
        if !self.is_next('>') {
            return None;
        }
        self.end_word(at)?;
        let operator = if self.is_next('>') { "&>>" } else { "&>" };
        self.set_operator(operator)
    }

    fn on_bar(&mut self, at: usize) -> Option<()> {
        let _or = self.is_next('|');
        if self.is_next('&') { None } else { self.end_at(at, CommandEnding::Joined) }
    }

    fn on_redirect(&mut self, at: usize, c: char) -> Option<()> {
        self.drop_descriptor(at);
        self.end_word(at)?;
        let operator = match c {
            '<' if self.is_next('&') => "<&",
            '<' => "<",
            _ if self.is_next('>') => ">>",
            _ if self.is_next('|') => ">|",
            _ if self.is_next('&') => ">&",
            _ => ">",
        };
        self.set_operator(operator)
    }

    fn set_operator(&mut self, operator: &'static str) -> Option<()> {
        let free = self.operator.is_none();
        self.operator = Some(operator);
        let is_more =
            self.rest.peek().is_some_and(|(_, c)| matches!(c, '<' | '>' | '(' | '&' | '|'));
        (free && !is_more).then_some(())
    }

    /// Removes the digits directly before a redirection, which are not a word.
    fn drop_descriptor(&mut self, at: usize) {
        let is_number = |start: usize| {
            let word = self.text.get(start..at).unwrap_or_default();
            !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
        };
        if self.operator.is_none() && self.word.as_ref().is_some_and(|(start, _)| is_number(*start))
        {
            self.word = None;
        }
    }

    fn end_word(&mut self, _at: usize) -> Option<()> {
        let Some((_, draft)) = self.word.take() else { return Some(()) };
        let word = draft.finish();
        if word.kind == WordKind::Unknown {
            return None;
        }
        match self.operator.take() {
            Some(operator) => {
                let to = RedirectTarget::from_operator(operator, &word)?;
                self.redirects.push(ParsedItem::Redirect { to, target: word });
            }
            None => self.words.push(word),
        }
        Some(())
    }

    fn end_at(&mut self, at: usize, ending: CommandEnding) -> Option<()> {
        self.end_word(at)?;
        self.end_command(ending)
    }

    fn end_command(&mut self, ending: CommandEnding) -> Option<()> {
        let is_empty = self.words.is_empty() && self.redirects.is_empty();
        if self.operator.is_some() || (is_empty && ending != CommandEnding::Line) {
            return None;
        }
        if is_empty {
            return Some(());
        }
        if let Some(name) = self.words.first() {
            is_command_name(name).then_some(())?;
            self.items.push(ParsedItem::Command(std::mem::take(&mut self.words)));
        }
        self.items.append(&mut self.redirects);
        self.awaits_command = ending == CommandEnding::Joined;
        Some(())
    }
}

fn is_command_name(name: &ShellWord) -> bool {
    let plain = name.kind == WordKind::Plain && name.text.is_ascii() && !name.text.is_empty();
    // `a=b` and `a[0]=b` are assignments; no command that may be allowed has that character in its
    // name.
    plain && !name.text.contains('=') && !RESERVED.contains(&name.text.as_str())
}
