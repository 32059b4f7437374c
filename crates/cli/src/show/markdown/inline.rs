//! Marks inside a line: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` `` and `[links](to)`.
//!
//! A mark counts only with its partner on the same line, so what could become a span is held back
//! until it is known. A mark without a partner is text like any other.

use super::style::{Styled, TextStyle};

/// Characters that are held back for a span; a longer one is not a span.
const MOST_HELD: usize = 240;

/// Text being read.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The style of what surrounds it.
    base: TextStyle,
    held: Vec<char>,
    /// The character before what is held.
    before: Option<char>,
}

/// What is held back.
enum Held {
    /// It may become a span.
    Open,
    /// It is one: this much text in this style, then what was read too far.
    Span { content: Vec<char>, style: TextStyle, link: Option<Vec<char>>, rest: Option<char> },
    /// Its first character is only a character.
    Text,
}

impl Inline {
    pub(super) fn new(base: TextStyle) -> Self {
        Self { base, held: Vec::new(), before: None }
    }

    /// A whole text.
    pub(super) fn parse(text: &[char], base: TextStyle) -> Vec<Styled> {
        let (mut inline, mut out) = (Self::new(base), Vec::new());
        text.iter().for_each(|c| inline.push(*c, &mut out));
        inline.end(&mut out);
        out
    }

    /// The next character.
    pub(super) fn push(&mut self, c: char, out: &mut Vec<Styled>) {
        if self.held.is_empty() && !is_mark(c) {
            return self.emit(c, self.base, out);
        }
        self.held.push(c);
        match self.look() {
            Held::Open if self.held.len() < MOST_HELD => {}
            Held::Span { content, style, link, rest } => {
                self.held.clear();
                self.span(&content, style, link.as_deref(), out);
                self.before = content.last().copied();
                rest.into_iter().for_each(|rest| self.push(rest, out));
            }
            Held::Open | Held::Text => self.release(out),
        }
    }

    /// The line is over.
    pub(super) fn end(&mut self, out: &mut Vec<Styled>) {
        while !self.held.is_empty() {
            // A mark at the end of the line may close what is held.
            self.held.push('\n');
            let held = self.look();
            self.held.pop();
            match held {
                Held::Span { content, style, link, .. } => {
                    self.held.clear();
                    self.span(&content, style, link.as_deref(), out);
                }
                Held::Open | Held::Text => self.release(out),
            }
        }
        self.before = None;
    }

    /// The first character held is text; the others are read again.
    fn release(&mut self, out: &mut Vec<Styled>) {
        let held = std::mem::take(&mut self.held);
        let mut held = held.into_iter();
        if let Some(first) = held.next() {
            self.emit(first, self.base, out);
        }
        held.for_each(|c| self.push(c, out));
    }

    fn emit(&mut self, c: char, style: TextStyle, out: &mut Vec<Styled>) {
        out.push((c, style));
        self.before = Some(c);
    }

    fn span(
        &self,
        content: &[char],
        style: TextStyle,
        link: Option<&[char]>,
        out: &mut Vec<Styled>,
    ) {
        match style.code && !self.base.code {
            true => out.extend(content.iter().map(|c| (*c, style))),
            false => out.extend(Self::parse(content, style)),
        }
        if let Some(target) = link.filter(|target| *target != content) {
            // Where a link leads is always visible.
            let shown = std::iter::once(' ').chain(['(']).chain(target.iter().copied());
            out.extend(shown.chain([')']).map(|c| (c, self.base.dimmed())));
        }
    }

    fn look(&self) -> Held {
        match self.held.as_slice() {
            ['\\'] | [] => Held::Open,
            ['\\', c] if c.is_ascii_punctuation() => self.spans(vec![*c], self.base),
            ['\\', ..] => Held::Text,
            ['`', ..] => self.code(),
            ['[', ..] => self.link(),
            ['~', ..] => self.paired('~', 2, self.base.struck()),
            ['*' | '_'] => self.opens(),
            ['*', '*', ..] => self.paired('*', 2, self.base.strong()),
            // Names such as `__init__` are far more frequent than text that is strong this way.
            ['_', '_', ..] => Held::Text,
            [mark @ ('*' | '_'), ..] => self.paired(*mark, 1, self.base.emphasised()),
            _ => Held::Text,
        }
    }

    fn spans(&self, content: Vec<char>, style: TextStyle) -> Held {
        Held::Span { content, style, link: None, rest: None }
    }

    /// A single mark inside a word is no mark.
    fn opens(&self) -> Held {
        match self.before {
            Some(before) if before.is_alphanumeric() || before == '_' => Held::Text,
            _ => Held::Open,
        }
    }

    fn paired(&self, mark: char, times: usize, style: TextStyle) -> Held {
        let held = self.held.as_slice();
        let run = held.iter().take_while(|c| **c == mark).count();
        let Some(inside) = held.get(times..) else { return Held::Open };
        if run < times {
            return if held.len() == run { Held::Open } else { Held::Text };
        }
        match inside.first() {
            None => return Held::Open,
            Some(first) if first.is_whitespace() => return Held::Text,
            Some(_) if run > times.saturating_add(1) => return Held::Text,
            Some(_) => {}
        }
        // The character behind the closing mark says whether it is one.
        let Some((next, inside)) = inside.split_last() else { return Held::Open };
        let closing = inside.iter().rev().take_while(|c| **c == mark).count();
        let content = inside.get(..inside.len().saturating_sub(times)).unwrap_or_default();
        let closes = closing >= times
            && *next != mark
            && (times > 1 || !next.is_alphanumeric())
            && content.last().is_some_and(|last| !last.is_whitespace())
            && content.iter().any(|c| *c != mark);
        match closes {
            true => {
                let rest = (*next != '\n').then_some(*next);
                Held::Span { content: content.to_vec(), style, link: None, rest }
            }
            false => Held::Open,
        }
    }

    fn code(&self) -> Held {
        let held = self.held.as_slice();
        let ticks = held.iter().take_while(|c| **c == '`').count();
        let Some((next, inside)) = held.get(ticks..).and_then(<[char]>::split_last) else {
            return Held::Open;
        };
        let closing = inside.iter().rev().take_while(|c| **c == '`').count();
        let content = inside.get(..inside.len().saturating_sub(ticks)).unwrap_or_default();
        match closing == ticks && *next != '`' && !content.is_empty() {
            true => {
                let rest = (*next != '\n').then_some(*next);
                Held::Span { content: content.to_vec(), style: self.base.coded(), link: None, rest }
            }
            false => Held::Open,
        }
    }

    fn link(&self) -> Held {
        let held = self.held.as_slice();
        let Some(close) = held.iter().position(|c| *c == ']') else { return Held::Open };
        let content = held.get(1..close).unwrap_or_default();
        match held.get(close.saturating_add(1)) {
            None => Held::Open,
            Some('(') if !content.is_empty() => match held.last() {
                Some(')') => {
                    let target = held.get(close.saturating_add(2)..held.len().saturating_sub(1));
                    let target = target.unwrap_or_default().to_vec();
                    let style = self.base.linked();
                    Held::Span { content: content.to_vec(), style, link: Some(target), rest: None }
                }
                Some('\n') | None => Held::Text,
                Some(_) => Held::Open,
            },
            Some(_) => Held::Text,
        }
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~' | '[' | '\\')
}
