//! Markdown with front matter: `---`, lines of `name: value`, `---`, and the text below. The front
//! matter is the small part of YAML that people use there: words, quoted words, lists, folded
//! lines.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::claude::nested_yaml;

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod front_matter_tests;

/// A Markdown page with its front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarkdownPage {
    fields: BTreeMap<String, Field>,
    /// The text below the front matter.
    pub(crate) body: String,
}

/// One field of the front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) value: String,
    /// The line of the file in which the field begins, counted from 1.
    pub(crate) line: usize,
    pub(crate) form: Form,
    /// The value as it was written: the rest of the first line, and the lines below it.
    written: Vec<String>,
}

/// The syntactic form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain or quoted text.
    Text,
    /// `[a, b]`, or a line with a dash for each.
    List,
    /// A table: names with values of their own.
    Table,
}

impl MarkdownPage {
    /// Parses a page that must have front matter; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let rest = text.strip_prefix("---\n").ok_or(
            "no front matter; start the file with a line `---`, `name: …`, `description: …` and `---`",
        )?;
        let (head, body) = rest
            .split_once("\n---\n")
            .or_else(|| rest.strip_suffix("\n---").map(|head| (head, "")))
            .ok_or("the front matter is not closed; add a line `---` below it")?;
        Ok(Self { fields: fields(head)?, body: body.trim().to_owned() })
    }

    /// Parses a page with optional front matter.
    pub(crate) fn parse_optional(text: &str) -> Result<Self, String> {
        let begins = text.trim_start_matches('\u{feff}').starts_with("---");
        match begins {
            true => Self::parse(text),
            false => Ok(Self { fields: BTreeMap::new(), body: text.trim().to_owned() }),
        }
    }

    /// The value of the field `name`; `None` if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|field| field.value.as_str()).filter(|value| !value.is_empty())
    }

    /// All fields of the front matter, by name.
    pub(crate) fn parse_fields(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// The value of a field that may have tables and lists inside; `None` if it is missing.
    pub(crate) fn tree(&self, name: &str) -> Result<Option<Value>, String> {
        let Some(field) = self.fields.get(name) else { return Ok(None) };
        let [first, below @ ..] = field.written.as_slice() else { return Ok(None) };
        let value = match first.is_empty() {
            true => nested_yaml::parse_block(below),
            false => nested_yaml::parse_scalar(&field.written.join(" ")),
        };
        value.map(Some).map_err(|reason| format!("`{name}`: {reason}"))
    }

    /// The value of a field as a list: `a, b`, `[a, b]`, or a line for each.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        let value = self.get(name)?;
        let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let parts = inside.unwrap_or(value).split(',').map(|part| unquote(part.trim()));
        Some(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }
}

fn fields(head: &str) -> Result<BTreeMap<String, Field>, String> {
    let mut fields: BTreeMap<String, Field> = BTreeMap::new();
    let mut latest: Option<String> = None;
    // Numbers begin at 2: the first line of the file opens the front matter.
    for (line, number) in head.lines().zip(2..) {
        let inside = line.starts_with([' ', '\t', '-']);
        let trimmed = line.trim();
        match (&latest, trimmed.split_once(':')) {
            _ if trimmed.is_empty() || trimmed.starts_with('#') => {}
            (Some(name), _) if inside => {
                if let Some(field) = fields.get_mut(name) {
                    field.written.push(line.to_owned());
                    append_line(field, trimmed);
                }
            }
            (_, Some((name, value))) if !inside => {
                let name = name.trim().to_owned();
                let field = first_line_value(value.trim(), number);
                if let Some(before) = fields.insert(name.clone(), field) {
                    return Err(format!(
                        "line {number}: `{name}` is there twice, first in line {}; keep one",
                        before.line
                    ));
                }
                latest = Some(name);
            }
            _ => {
                return Err(format!(
                    "line {number}: the front matter has a line that is not `name: value`: {trimmed}"
                ));
            }
        }
    }
    Ok(fields)
}

/// The value on the first line of a field: `>` and `|` only announce the next lines.
fn first_line_value(value: &str, line: usize) -> Field {
    let is_list = value.starts_with('[') && value.ends_with(']');
    let form = match value {
        // The following lines decide.
        "" => Form::Table,
        value if value.starts_with('{') => Form::Table,
        _ if is_list => Form::List,
        _ => Form::Text,
    };
    let written = vec![value.to_owned()];
    let value = match value {
        ">" | "|" | ">-" | "|-" | ">+" | "|+" => "",
        value => unquote(value),
    };
    Field { value: value.to_owned(), line, form, written }
}

/// Appends one more line of a value: an entry of a list, or text.
fn append_line(field: &mut Field, line: &str) {
    let (separator, line) = match line.strip_prefix("- ") {
        Some(entry) => (", ", unquote(entry.trim())),
        None => (" ", line),
    };
    let is_named =
        line.split_once(':').is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    field.form = match field.form {
        Form::Table if separator == ", " && !is_named => Form::List,
        Form::Table if !is_named && field.value.is_empty() => Form::Text,
        form => form,
    };
    let value = &mut field.value;
    if !value.is_empty() {
        value.push_str(separator);
    }
    value.push_str(line);
}

fn unquote(value: &str) -> &str {
    let quoted = |sign| value.strip_prefix(sign).and_then(|rest: &str| rest.strip_suffix(sign));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}
