//! What a tool asks the user in the middle of a call: its form or its page, in lines.

use windlass::core::call::input_form::{FieldChoice, FieldKind, FormField};
use windlass::core::call::input_request::{InputRequest, RequestedInput};

use crate::terminal::{escape_invisible, to_one_line};

/// Length of a text of a form, in characters.
const MAX_LABEL_CHARS: usize = 300;

/// The question, in a sentence.
pub(super) fn request_title(request: &InputRequest) -> String {
    let (from, message) = (escape_invisible(&request.from), escape_invisible(&request.message));
    match &request.wants {
        RequestedInput::Form { .. } => format!("{from} asks: {message}"),
        // The whole address: a person decides by it.
        RequestedInput::Page { url } => {
            format!("{from} asks you to open {}: {message}", escape_invisible(url))
        }
    }
}

/// The form or the address of the page, and what follows from an answer.
pub(super) fn request_lines(request: &InputRequest) -> Vec<String> {
    let mut lines: Vec<String> = match &request.wants {
        RequestedInput::Form { .. } => {
            let fields = request.form().map(|form| form.fields).unwrap_or_default();
            fields.iter().map(field_line).collect()
        }
        RequestedInput::Page { .. } => Vec::new(),
    };
    lines.push(
        "  If the tool no longer waits, the call is started again with your answer, unless you decline.".to_owned(),
    );
    lines
}

fn field_line(field: &FormField) -> String {
    let short = |text: &str| to_one_line(&escape_invisible(text), MAX_LABEL_CHARS);
    let need = if field.is_required { "required" } else { "optional" };
    let mut line = format!("  {} ({need}, {})", short(&field.name), kind_text(&field.kind));
    let about = [&field.title, &field.description].into_iter().flatten();
    let about: Vec<String> = about.map(|text| short(text)).collect();
    if !about.is_empty() {
        line = format!("{line}: {}", about.join(": "));
    }
    match &field.default {
        Some(value) => format!("{line} [default {}]", short(&value.to_string())),
        None => line,
    }
}

fn kind_text(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text => "text".to_owned(),
        FieldKind::Number => "number".to_owned(),
        FieldKind::Integer => "whole number".to_owned(),
        FieldKind::YesNo => "yes or no".to_owned(),
        FieldKind::OneOf(choices) => format!("one of {}", choice_list(choices)),
        FieldKind::SomeOf(choices) => format!("some of {}", choice_list(choices)),
    }
}

fn choice_list(choices: &[FieldChoice]) -> String {
    let titles = choices.iter().map(|choice| escape_invisible(&choice.title));
    to_one_line(&titles.collect::<Vec<_>>().join(", "), MAX_LABEL_CHARS)
}
