//! The second reading: small, strict, and independent of the first. It knows simple commands,
//! plain words, quotes, `&& || ; |`, line ends, comments and redirections; at anything else it
//! gives up.

use std::iter::Peekable;
use std::str::CharIndices;

use super::ansi;
use super::tree::{Item, To};
use super::word::{Draft, Kind, Word, in_double_quotes};

/// Words that are no commands where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "select", "while", "until", "do", "done", "case",
    "esac", "in", "function", "coproc", "{", "}", "!", "[[", "]]", "((", "))",
];

/// Reads a text of nothing but plain parts.
pub(super) fn read(text: &str) -> Option<Vec<Item>> {
    let mut reader = Reader::new(text);
    while let Some((at, c)) = reader.rest.next() {
        reader.take(at, c)?;
    }
    reader.end_word(text.len())?;
    reader.end_command(Ending::Line)?;
    (!reader.awaits).then_some(reader.items)
}

struct Reader<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
    items: Vec<Item>,
    words: Vec<Word>,
    redirects: Vec<Item>,
    draft: Option<(usize, Draft)>,
    operator: Option<&'static str>,
    /// An operator that joins two commands stands there and the second is still to come.
    awaits: bool,
}

/// How a command ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With its line, which may be empty.
    Line,
    /// With `;`.
    Semicolon,
    /// With something that another command must follow.
    Joined,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            rest: text.char_indices().peekable(),
            items: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            draft: None,
            operator: None,
            awaits: false,
        }
    }

    fn take(&mut self, at: usize, c: char) -> Option<()> {
        match c {
            ' ' | '\t' => self.end_word(at),
            '\n' => self.end(at, Ending::Line),
            ';' => self.end(at, Ending::Semicolon),
            '&' => self.ampersand(at),
            '|' => self.bar(at),
            '<' | '>' => self.redirect(at, c),
            '#' if self.draft.is_none() => self.comment(),
            '\'' => self.quote(at, '\''),
            '"' => self.quote(at, '"'),
            '$' => self.dollar(at),
            '\\' => self.backslash(at),
            '`' | '(' | ')' => None,
            c if c.is_control() => None,
            c => self.bare(at, c),
        }
    }

    fn draft(&mut self, at: usize) -> &mut Draft {
        &mut self.draft.get_or_insert_with(|| (at, Draft::default())).1
    }

    fn bare(&mut self, at: usize, c: char) -> Option<()> {
        self.draft(at).bare(c);
        Some(())
    }

    fn is_next(&mut self, wanted: char) -> bool {
        self.rest.next_if(|(_, c)| *c == wanted).is_some()
    }

    fn backslash(&mut self, at: usize) -> Option<()> {
        match self.rest.next()? {
            (_, '\n') => Some(()),
            (_, c) => {
                self.draft(at).escaped(Some(c));
                Some(())
            }
        }
    }

    fn dollar(&mut self, at: usize) -> Option<()> {
        if !self.is_next('\'') {
            return None;
        }
        let inside = self.until('\'')?;
        let text = ansi::decode(inside)?;
        self.draft(at).quoted(&text);
        Some(())
    }

    fn quote(&mut self, at: usize, quote: char) -> Option<()> {
        let text = match quote {
            '"' => in_double_quotes(self.until('"')?)?,
            _ => self.until_raw(quote)?.to_owned(),
        };
        self.draft(at).quoted(&text);
        Some(())
    }

    /// Everything before the next such quote that no backslash stands before.
    fn until(&mut self, quote: char) -> Option<&'t str> {
        let start = self.rest.peek()?.0;
        loop {
            match self.rest.next()? {
                (_, '\\') => drop(self.rest.next()?),
                (at, c) if c == quote => return self.text.get(start..at),
                _ => {}
            }
        }
    }

    fn until_raw(&mut self, quote: char) -> Option<&'t str> {
        let start = self.rest.peek()?.0;
        let (end, _) = self.rest.find(|(_, c)| *c == quote)?;
        self.text.get(start..end)
    }

    fn comment(&mut self) -> Option<()> {
        while self.rest.next_if(|(_, c)| *c != '\n').is_some() {}
        Some(())
    }

    fn ampersand(&mut self, at: usize) -> Option<()> {
        if self.is_next('&') {
            return self.end(at, Ending::Joined);
        }
        if !self.is_next('>') {
            return None;
        }
        self.end_word(at)?;
        let operator = if self.is_next('>') { "&>>" } else { "&>" };
        self.set_operator(operator)
    }

    fn bar(&mut self, at: usize) -> Option<()> {
        let _or = self.is_next('|');
        if self.is_next('&') { None } else { self.end(at, Ending::Joined) }
    }

    fn redirect(&mut self, at: usize, c: char) -> Option<()> {
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

    /// Digits right before a redirection are not a word.
    fn drop_descriptor(&mut self, at: usize) {
        let is_number = |start: usize| {
            let word = self.text.get(start..at).unwrap_or_default();
            !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
        };
        if self.operator.is_none()
            && self.draft.as_ref().is_some_and(|(start, _)| is_number(*start))
        {
            self.draft = None;
        }
    }

    fn end_word(&mut self, _at: usize) -> Option<()> {
        let Some((_, draft)) = self.draft.take() else { return Some(()) };
        let word = draft.finish();
        if word.kind == Kind::Unknown {
            return None;
        }
        match self.operator.take() {
            Some(operator) => {
                let to = To::of(operator, &word)?;
                self.redirects.push(Item::Redirect { to, target: word });
            }
            None => self.words.push(word),
        }
        Some(())
    }

    fn end(&mut self, at: usize, ending: Ending) -> Option<()> {
        self.end_word(at)?;
        self.end_command(ending)
    }

    fn end_command(&mut self, ending: Ending) -> Option<()> {
        let is_empty = self.words.is_empty() && self.redirects.is_empty();
        if self.operator.is_some() || (is_empty && ending != Ending::Line) {
            return None;
        }
        if is_empty {
            return Some(());
        }
        if let Some(name) = self.words.first() {
            is_command_name(name).then_some(())?;
            self.items.push(Item::Command(std::mem::take(&mut self.words)));
        }
        self.items.append(&mut self.redirects);
        self.awaits = ending == Ending::Joined;
        Some(())
    }
}

fn is_command_name(name: &Word) -> bool {
    let plain = name.kind == Kind::Plain && name.text.is_ascii() && !name.text.is_empty();
    // `a=b` and `a[0]=b` are assignments; no command we would allow has that sign in its name.
    plain && !name.text.contains('=') && !RESERVED.contains(&name.text.as_str())
}
