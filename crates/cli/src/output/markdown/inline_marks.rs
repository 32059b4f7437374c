//! Inline marks: `**strong**`, `*emphasis*`, `~~struck~~`, `` `code` `` and `[links](to)`.
//!
//! A mark counts only with its partner on the same line, so text that could become a span is held
//! back until that is known. A mark without a partner is ordinary text.

use super::text_style::{StyledChar, TextStyle};

/// Maximum characters that are held back for a span; a longer one is not a span.
const MAX_HELD_CHARS: usize = 240;

/// Parses inline marks of streamed text.
#[derive(Debug, Default)]
pub(super) struct InlineParser {
    /// The style of the surrounding text.
    base: TextStyle,
    held: Vec<char>,
    /// The character before the held-back text.
    before: Option<char>,
}

/// The state of held-back text.
enum HeldSpan {
    /// Not known yet.
    Undecided,
    /// A complete span: this content in this style, then a character that was read too far.
    Span { content: Vec<char>, style: TextStyle, link: Option<Vec<char>>, rest: Option<char> },
    /// The first held-back character is ordinary text.
    Text,
}

impl InlineParser {
    pub(super) fn new(base: TextStyle) -> Self {
        Self { base, held: Vec::new(), before: None }
    }

    /// Parses a complete text.
    pub(super) fn parse(text: &[char], base: TextStyle) -> Vec<StyledChar> {
        let (mut inline, mut out) = (Self::new(base), Vec::new());
        text.iter().for_each(|c| inline.push(*c, &mut out));
        inline.end(&mut out);
        out
    }

    /// Parses the next character.
    pub(super) fn push(&mut self, c: char, out: &mut Vec<StyledChar>) {
        if self.held.is_empty() && !is_mark(c) {
            return self.emit(c, self.base, out);
        }
        self.held.push(c);
        match self.classify_held() {
            HeldSpan::Undecided if self.held.len() < MAX_HELD_CHARS => {}
            HeldSpan::Span { content, style, link, rest } => {
                self.held.clear();
                self.emit_span(&content, style, link.as_deref(), out);
                self.before = content.last().copied();
                rest.into_iter().for_each(|rest| self.push(rest, out));
            }
            HeldSpan::Undecided | HeldSpan::Text => self.release(out),
        }
    }

    /// Ends the line.
    pub(super) fn end(&mut self, out: &mut Vec<StyledChar>) {
        while !self.held.is_empty() {
            // A mark at the end of the line may close the held-back span.
            self.held.push('\n');
            let held = self.classify_held();
            self.held.pop();
            match held {
                HeldSpan::Span { content, style, link, .. } => {
                    self.held.clear();
                    self.emit_span(&content, style, link.as_deref(), out);
                }
                HeldSpan::Undecided | HeldSpan::Text => self.release(out),
            }
        }
        self.before = None;
    }

    /// Releases the first held-back character as text; the others are read again.
    fn release(&mut self, out: &mut Vec<StyledChar>) {
        let held = std::mem::take(&mut self.held);
        let mut held = held.into_iter();
        if let Some(first) = held.next() {
            self.emit(first, self.base, out);
        }
        held.for_each(|c| self.push(c, out));
    }

    fn emit(&mut self, c: char, style: TextStyle, out: &mut Vec<StyledChar>) {
        out.push((c, style));
        self.before = Some(c);
    }

    fn emit_span(
        &self,
        content: &[char],
        style: TextStyle,
        link: Option<&[char]>,
        out: &mut Vec<StyledChar>,
    ) {
        match style.code && !self.base.code {
            true => out.extend(content.iter().map(|c| (*c, style))),
            false => out.extend(Self::parse(content, style)),
        }
        if let Some(target) = link.filter(|target| *target != content) {
            // The target of a link is always visible.
            let shown = std::iter::once(' ').chain(['(']).chain(target.iter().copied());
            out.extend(shown.chain([')']).map(|c| (c, self.base.with_dim())));
        }
    }

    fn classify_held(&self) -> HeldSpan {
        match self.held.as_slice() {
            ['\\'] | [] => HeldSpan::Undecided,
            ['\\', c] if c.is_ascii_punctuation() => self.plain_span(vec![*c], self.base),
            ['\\', ..] => HeldSpan::Text,
            ['`', ..] => self.code_span(),
            ['[', ..] => self.link_span(),
            ['~', ..] => self.paired_span('~', 2, self.base.with_strike()),
            ['*' | '_'] => self.can_open(),
            ['*', '*', ..] => self.paired_span('*', 2, self.base.with_bold()),
            // Names such as `__init__` are far more frequent than strong text in this form.
            ['_', '_', ..] => HeldSpan::Text,
            [mark @ ('*' | '_'), ..] => self.paired_span(*mark, 1, self.base.with_italic()),
            _ => HeldSpan::Text,
        }
    }

    fn plain_span(&self, content: Vec<char>, style: TextStyle) -> HeldSpan {
        HeldSpan::Span { content, style, link: None, rest: None }
    }

    /// Returns whether a single mark may open a span: inside a word it does not.
    fn can_open(&self) -> HeldSpan {
        match self.before {
            Some(before) if before.is_alphanumeric() || before == '_' => HeldSpan::Text,
            _ => HeldSpan::Undecided,
        }
    }

    fn paired_span(&self, mark: char, times: usize, style: TextStyle) -> HeldSpan {
        let held = self.held.as_slice();
        let run = held.iter().take_while(|c| **c == mark).count();
        let Some(inside) = held.get(times..) else { return HeldSpan::Undecided };
        if run < times {
            return if held.len() == run { HeldSpan::Undecided } else { HeldSpan::Text };
        }
        match inside.first() {
            None => return HeldSpan::Undecided,
            Some(first) if first.is_whitespace() => return HeldSpan::Text,
            Some(_) if run > times.saturating_add(1) => return HeldSpan::Text,
            Some(_) => {}
        }
        // The character after the closing mark decides whether it is one.
        let Some((next, inside)) = inside.split_last() else { return HeldSpan::Undecided };
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
                HeldSpan::Span { content: content.to_vec(), style, link: None, rest }
            }
            false => HeldSpan::Undecided,
        }
    }

    fn code_span(&self) -> HeldSpan {
        let held = self.held.as_slice();
        let ticks = held.iter().take_while(|c| **c == '`').count();
        let Some((next, inside)) = held.get(ticks..).and_then(<[char]>::split_last) else {
            return HeldSpan::Undecided;
        };
        let closing = inside.iter().rev().take_while(|c| **c == '`').count();
        let content = inside.get(..inside.len().saturating_sub(ticks)).unwrap_or_default();
        match closing == ticks && *next != '`' && !content.is_empty() {
            true => {
                let rest = (*next != '\n').then_some(*next);
                HeldSpan::Span {
                    content: content.to_vec(),
                    style: self.base.with_code(),
                    link: None,
                    rest,
                }
            }
            false => HeldSpan::Undecided,
        }
    }

    fn link_span(&self) -> HeldSpan {
        let held = self.held.as_slice();
        let Some(close) = held.iter().position(|c| *c == ']') else { return HeldSpan::Undecided };
        let content = held.get(1..close).unwrap_or_default();
        match held.get(close.saturating_add(1)) {
            None => HeldSpan::Undecided,
            Some('(') if !content.is_empty() => match held.last() {
                Some(')') => {
                    let target = held.get(close.saturating_add(2)..held.len().saturating_sub(1));
                    let target = target.unwrap_or_default().to_vec();
                    let style = self.base.with_underline();
                    HeldSpan::Span {
                        content: content.to_vec(),
                        style,
                        link: Some(target),
                        rest: None,
                    }
                }
                Some('\n') | None => HeldSpan::Text,
                Some(_) => HeldSpan::Undecided,
            },
            Some(_) => HeldSpan::Text,
        }
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~' | '[' | '\\')
}
