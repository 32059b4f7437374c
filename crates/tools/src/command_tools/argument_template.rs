//! Arguments with placeholders: `--size={width}`. A value becomes part of exactly one argument,
//! whatever is in it.

use serde_json::{Map, Value};

/// The placeholder for the key that is equal for every attempt of one call.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The argument behind which values are no options.
const END_OF_OPTIONS: &str = "--";

/// One argument with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArgumentTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Placeholder(String),
}

impl ArgumentTemplate {
    /// Parses an argument; `{{` and `}}` are braces.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                plain.push_str(from.get(..1).unwrap_or_default());
                rest = after;
                continue;
            }
            let inside = from.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, after)) = inside.filter(|(name, _)| is_placeholder(name)) else {
                return Err(format!(
                    "`{text}` has a brace that belongs to no placeholder; write {{{{ or }}}} for a \
                     brace"
                ));
            };
            parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
            parts.push(TemplatePart::Placeholder(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        parts.push(TemplatePart::Text(plain));
        parts.retain(|part| *part != TemplatePart::Text(String::new()));
        Ok(Self { parts })
    }

    /// The names of its placeholders.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Placeholder(name) => Some(name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    /// The text of an argument without placeholders.
    fn as_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The argument with its values; `None` if an optional value was left out.
    fn fill(&self, values: &Map<String, Value>, key: &str) -> Option<String> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => filled.push_str(text),
                TemplatePart::Placeholder(name) if name == IDEMPOTENCY_KEY => filled.push_str(key),
                TemplatePart::Placeholder(name) => match values.get(name)? {
                    Value::Null => return None,
                    Value::String(text) => filled.push_str(text),
                    other => filled.push_str(&other.to_string()),
                },
            }
        }
        Some(filled)
    }

    /// Returns whether the argument begins with a value that is text: the value decides whether the
    /// program takes it for an option.
    fn begins_with_text_value(&self, values: &Map<String, Value>) -> bool {
        match self.parts.first() {
            Some(TemplatePart::Placeholder(name)) => values.get(name).is_some_and(Value::is_string),
            Some(TemplatePart::Text(_)) | None => false,
        }
    }
}

impl std::fmt::Display for ArgumentTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            TemplatePart::Text(text) => f.write_str(text),
            TemplatePart::Placeholder(name) => write!(f, "{{{name}}}"),
        })
    }
}

fn is_placeholder(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.chars().all(fits)
}

/// The arguments with their values. An argument whose optional value was left out is dropped.
///
/// A value that would be read as an option is refused: only a model that is told what to write could
/// have meant it.
pub(super) fn fill_arguments(
    templates: &[ArgumentTemplate],
    values: &Map<String, Value>,
    key: &str,
) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    let mut are_options_over = false;
    for template in templates {
        are_options_over |= template.as_text() == Some(END_OF_OPTIONS);
        let Some(argument) = template.fill(values, key) else { continue };
        if argument.contains('\0') {
            return Err("a value contains a NUL byte".to_owned());
        }
        let is_option = argument.starts_with('-') && template.begins_with_text_value(values);
        if is_option && !are_options_over {
            return Err(format!(
                "the value `{argument}` begins with `-`, and the program would take it for an option"
            ));
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

/// The texts with their values; a text whose optional value was left out is dropped.
pub(super) fn fill_texts(
    templates: &[ArgumentTemplate],
    values: &Map<String, Value>,
) -> Vec<String> {
    templates.iter().filter_map(|template| template.fill(values, "")).collect()
}
