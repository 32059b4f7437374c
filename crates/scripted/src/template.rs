//! Texts with slots: `${user}`, `${result}`, `${ask}`, and `$${` for a plain `${`.

use super::limits::{MAX_FOUND_CHARS, MAX_SLOT_CHARS};
use super::script_error::ScriptProblem;
use super::scripted_answer::RequestView;

/// A text with slots that are filled for each request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextTemplate {
    pieces: Vec<TemplatePiece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Slot(TemplateSlot),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateSlot {
    User,
    Result,
    Ask,
}

/// How the value of a slot is written into the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotEscaping {
    Plain,
    /// Escaped for the inside of a JSON string: in valid JSON a slot cannot be anywhere else.
    Json,
}

impl TextTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, ScriptProblem> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            rest = match before.strip_suffix('$') {
                Some(plain) => push_escaped_slot(&mut pieces, plain, after),
                None => push_slot(&mut pieces, before, after)?,
            };
        }
        push_text(&mut pieces, rest);
        Ok(Self { pieces })
    }

    pub(super) fn slot_count(&self) -> usize {
        self.pieces.iter().filter(|piece| matches!(piece, TemplatePiece::Slot(_))).count()
    }

    pub(super) fn fill(&self, view: &RequestView<'_>, filling: SlotEscaping) -> String {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Text(text) => filled.push_str(text),
                TemplatePiece::Slot(slot) => {
                    filled.push_str(&escape_value(slot_value(*slot, view), filling));
                }
            }
        }
        filled
    }
}

fn push_escaped_slot<'a>(pieces: &mut Vec<TemplatePiece>, plain: &str, after: &'a str) -> &'a str {
    push_text(pieces, plain);
    push_text(pieces, "${");
    after
}

fn push_slot<'a>(
    pieces: &mut Vec<TemplatePiece>,
    before: &str,
    after: &'a str,
) -> Result<&'a str, ScriptProblem> {
    push_text(pieces, before);
    let (slot, rest) = parse_slot(after).ok_or_else(|| unknown_slot_problem(after))?;
    pieces.push(TemplatePiece::Slot(slot));
    Ok(rest)
}

fn parse_slot(after: &str) -> Option<(TemplateSlot, &str)> {
    let (name, rest) = after.split_once('}')?;
    match name {
        "user" => Some((TemplateSlot::User, rest)),
        "result" => Some((TemplateSlot::Result, rest)),
        "ask" => Some((TemplateSlot::Ask, rest)),
        _ => None,
    }
}

fn unknown_slot_problem(after: &str) -> ScriptProblem {
    let text = after.split_inclusive('}').next().unwrap_or_default();
    ScriptProblem::UnknownSlot { slot: text.chars().take(MAX_FOUND_CHARS).collect() }
}

fn push_text(pieces: &mut Vec<TemplatePiece>, text: &str) {
    match pieces.last_mut() {
        Some(TemplatePiece::Text(last)) => last.push_str(text),
        Some(TemplatePiece::Slot(_)) | None if text.is_empty() => {}
        Some(TemplatePiece::Slot(_)) | None => pieces.push(TemplatePiece::Text(text.to_owned())),
    }
}

fn slot_value(slot: TemplateSlot, view: &RequestView<'_>) -> String {
    match slot {
        TemplateSlot::User => truncate_with_note(view.last_user_text, MAX_SLOT_CHARS),
        TemplateSlot::Result => {
            truncate_with_note(view.results.first().map_or("", |r| r.text), MAX_SLOT_CHARS)
        }
        TemplateSlot::Ask => view.ask.to_string(),
    }
}

/// The beginning of the text, with a note of how much was left out.
pub(super) fn truncate_with_note(text: &str, limit: usize) -> String {
    let mut chars = text.chars();
    let kept: String = chars.by_ref().take(limit).collect();
    match chars.count() {
        0 => kept,
        more => format!("{kept}… [{more} more characters]"),
    }
}

/// The text as a JSON string, quotes included.
pub(super) fn to_json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn escape_value(value: String, filling: SlotEscaping) -> String {
    match filling {
        SlotEscaping::Plain => value,
        SlotEscaping::Json => inside_quotes(&to_json_string(&value)).to_owned(),
    }
}

fn inside_quotes(json: &str) -> &str {
    json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json)
}
