//! Texts with slots: `${user}`, `${result}`, `${ask}`, and `$${` for a plain `${`.

use super::answer::Seen;
use super::error::Problem;
use super::limits::{MAX_FOUND_CHARS, MAX_SLOT_CHARS};

/// A text with slots to fill per request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(Slot),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    User,
    Result,
    Ask,
}

/// How a slot's value is written into the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filling {
    Plain,
    /// As the inside of a JSON string: in valid JSON a slot can stand nowhere else.
    Json,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            rest = match before.strip_suffix('$') {
                Some(plain) => escaped(&mut pieces, plain, after),
                None => slot(&mut pieces, before, after)?,
            };
        }
        push_text(&mut pieces, rest);
        Ok(Self { pieces })
    }

    pub(super) fn slots(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Slot(_))).count()
    }

    pub(super) fn fill(&self, seen: &Seen<'_>, filling: Filling) -> String {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot(slot) => filled.push_str(&write(value(*slot, seen), filling)),
            }
        }
        filled
    }
}

fn escaped<'a>(pieces: &mut Vec<Piece>, plain: &str, after: &'a str) -> &'a str {
    push_text(pieces, plain);
    push_text(pieces, "${");
    after
}

fn slot<'a>(pieces: &mut Vec<Piece>, before: &str, after: &'a str) -> Result<&'a str, Problem> {
    push_text(pieces, before);
    let (slot, rest) = named(after).ok_or_else(|| unknown(after))?;
    pieces.push(Piece::Slot(slot));
    Ok(rest)
}

fn named(after: &str) -> Option<(Slot, &str)> {
    let (name, rest) = after.split_once('}')?;
    match name {
        "user" => Some((Slot::User, rest)),
        "result" => Some((Slot::Result, rest)),
        "ask" => Some((Slot::Ask, rest)),
        _ => None,
    }
}

fn unknown(after: &str) -> Problem {
    let shown = after.split_inclusive('}').next().unwrap_or_default();
    Problem::UnknownSlot { slot: shown.chars().take(MAX_FOUND_CHARS).collect() }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        Some(Piece::Slot(_)) | None if text.is_empty() => {}
        Some(Piece::Slot(_)) | None => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn value(slot: Slot, seen: &Seen<'_>) -> String {
    match slot {
        Slot::User => bounded(seen.last_user_text, MAX_SLOT_CHARS),
        Slot::Result => bounded(seen.results.first().map_or("", |r| r.text), MAX_SLOT_CHARS),
        Slot::Ask => seen.ask.to_string(),
    }
}

/// The text's beginning, with a note of how much was left out.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    let mut chars = text.chars();
    let kept: String = chars.by_ref().take(limit).collect();
    match chars.count() {
        0 => kept,
        more => format!("{kept}… [{more} more characters]"),
    }
}

/// The text as a JSON string, quotes included.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn write(value: String, filling: Filling) -> String {
    match filling {
        Filling::Plain => value,
        Filling::Json => inside_quotes(&quoted(&value)).to_owned(),
    }
}

fn inside_quotes(json: &str) -> &str {
    json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json)
}
