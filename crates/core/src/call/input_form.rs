//! A form that a tool asks the user to fill in: fields with plain values, and how typed text becomes
//! those values.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::raw_json::RawJson;

/// Number of fields of a form that are read.
const MAX_FIELDS: usize = 64;

/// A form.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputForm {
    /// Its fields.
    pub fields: Vec<FormField>,
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// The name under which the value is sent.
    pub name: String,
    /// The name for people, if it has another one.
    pub title: Option<String>,
    /// What belongs into it.
    pub description: Option<String>,
    /// The values that it takes.
    pub kind: FieldKind,
    /// Whether it must have a value.
    pub is_required: bool,
    /// The value that it has without an answer.
    pub default: Option<Value>,
    /// The part of the schema that bounds the value.
    bounds: Value,
}

/// The values that a field takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    YesNo,
    /// One of these.
    OneOf(Vec<FieldChoice>),
    /// Some of these.
    SomeOf(Vec<FieldChoice>),
}

/// One of the values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChoice {
    /// The value that is sent.
    pub value: String,
    /// Its name for people.
    pub title: String,
}

/// Why values do not fill in a form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FormProblem {
    /// The field, or the text that names none.
    pub field: Arc<str>,
    /// What is wrong.
    pub kind: FormProblemKind,
}

/// What is wrong with a value of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormProblemKind {
    /// A required field has no value.
    Missing,
    /// The form has no such field.
    UnknownField,
    /// It is not a number.
    NotANumber,
    /// It is not a whole number.
    NotAnInteger,
    /// It is neither yes nor no.
    NotYesOrNo,
    /// It is not one of the choices.
    NotAChoice,
    /// It is shorter or smaller than the form allows.
    TooSmall,
    /// It is longer or larger than the form allows.
    TooLarge,
}

impl InputForm {
    /// Reads the fields of a schema. What is no field of a plain value is left out.
    #[must_use]
    pub fn parse(schema: &RawJson) -> Self {
        let schema: Value = schema.read().unwrap_or_default();
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten().take(MAX_FIELDS);
        Self {
            fields: fields
                .map(|(name, field)| parse_field(name, field, is_required(name)))
                .collect(),
        }
    }

    /// Returns the values of the form: those of the text, and the defaults of the other fields. The
    /// text is one JSON object, or lines of the form `name=value` (`;` also ends a line), or, if the
    /// form has one field only, its value.
    ///
    /// # Errors
    ///
    /// Returns the first problem.
    pub fn fill_in(&self, text: &str) -> Result<RawJson, FormProblem> {
        let mut given = self.read_values(text.trim())?;
        let mut values = Map::new();
        for field in &self.fields {
            let value = match given.remove(&field.name) {
                Some(value) => Some(field.check(value)?),
                None => field.default.clone(),
            };
            match value {
                Some(value) => drop(values.insert(field.name.clone(), value)),
                None if field.is_required => return field.fail(FormProblemKind::Missing),
                None => {}
            }
        }
        match given.keys().next() {
            Some(name) => Err(FormProblem::new(name, FormProblemKind::UnknownField)),
            None => Ok(RawJson::encode(&values)),
        }
    }

    fn read_values(&self, text: &str) -> Result<Map<String, Value>, FormProblem> {
        if text.is_empty() {
            return Ok(Map::new());
        }
        if let Ok(Value::Object(values)) = serde_json::from_str(text) {
            return Ok(values);
        }
        let is_named = |line: &str| {
            line.split_once('=').is_some_and(|(name, _)| self.field(name.trim()).is_some())
        };
        let lines = || text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty());
        if let [only] = &self.fields[..]
            && !lines().all(is_named)
        {
            return Ok(Map::from_iter([(only.name.clone(), only.parse_text(text)?)]));
        }
        let mut values = Map::new();
        for line in lines() {
            let unknown = || FormProblem::new(line, FormProblemKind::UnknownField);
            let (name, value) = line.split_once('=').ok_or_else(unknown)?;
            let field = self.field(name.trim()).ok_or_else(unknown)?;
            values.insert(field.name.clone(), field.parse_text(value.trim())?);
        }
        Ok(values)
    }

    fn field(&self, name: &str) -> Option<&FormField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl FormField {
    fn fail<T>(&self, kind: FormProblemKind) -> Result<T, FormProblem> {
        Err(FormProblem::new(&self.name, kind))
    }

    /// Reads a value that was typed.
    fn parse_text(&self, text: &str) -> Result<Value, FormProblem> {
        match &self.kind {
            FieldKind::Text | FieldKind::OneOf(_) => Ok(Value::from(text)),
            FieldKind::Number | FieldKind::Integer => match serde_json::from_str(text) {
                Ok(Value::Number(number)) => Ok(Value::Number(number)),
                _ => self.fail(FormProblemKind::NotANumber),
            },
            FieldKind::YesNo => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => self.fail(FormProblemKind::NotYesOrNo),
            },
            FieldKind::SomeOf(_) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(parts.map(Value::from).collect())
            }
        }
    }

    /// Checks a value; the title of a choice stands for its value.
    fn check(&self, value: Value) -> Result<Value, FormProblem> {
        match (&self.kind, value) {
            (FieldKind::Text, Value::String(text)) => {
                let chars = text.chars().count() as f64;
                self.check_bounds(chars, "minLength", "maxLength")?;
                Ok(Value::String(text))
            }
            (FieldKind::OneOf(choices), Value::String(text)) => self.choose(choices, &text),
            (FieldKind::Number | FieldKind::Integer, Value::Number(number)) => {
                let value = number.as_f64().unwrap_or(f64::NAN);
                if self.kind == FieldKind::Integer && value.fract() != 0.0 {
                    return self.fail(FormProblemKind::NotAnInteger);
                }
                self.check_bounds(value, "minimum", "maximum")?;
                Ok(Value::Number(number))
            }
            (FieldKind::YesNo, Value::Bool(value)) => Ok(Value::Bool(value)),
            (FieldKind::SomeOf(choices), Value::Array(parts)) => {
                self.check_bounds(parts.len() as f64, "minItems", "maxItems")?;
                let choose = |part: &Value| match part.as_str() {
                    Some(text) => self.choose(choices, text),
                    None => self.fail(FormProblemKind::NotAChoice),
                };
                parts.iter().map(choose).collect()
            }
            (FieldKind::Text | FieldKind::OneOf(_) | FieldKind::SomeOf(_), _) => {
                self.fail(FormProblemKind::NotAChoice)
            }
            (FieldKind::Number | FieldKind::Integer, _) => self.fail(FormProblemKind::NotANumber),
            (FieldKind::YesNo, _) => self.fail(FormProblemKind::NotYesOrNo),
        }
    }

    fn choose(&self, choices: &[FieldChoice], text: &str) -> Result<Value, FormProblem> {
        let by_value = choices.iter().find(|choice| choice.value == text);
        let by_title = || choices.iter().find(|choice| choice.title.eq_ignore_ascii_case(text));
        match by_value.or_else(by_title) {
            Some(choice) => Ok(Value::from(choice.value.as_str())),
            None => self.fail(FormProblemKind::NotAChoice),
        }
    }

    fn check_bounds(&self, size: f64, least: &str, most: &str) -> Result<(), FormProblem> {
        let bound = |name: &str| self.bounds.get(name).and_then(Value::as_f64);
        if bound(least).is_some_and(|least| size < least) {
            return self.fail(FormProblemKind::TooSmall);
        }
        if bound(most).is_some_and(|most| size > most) {
            return self.fail(FormProblemKind::TooLarge);
        }
        Ok(())
    }
}

impl FormProblem {
    fn new(field: &str, kind: FormProblemKind) -> Self {
        let short: String = field.chars().take(MAX_NAME_CHARS).collect();
        Self { field: Arc::from(short), kind }
    }
}

/// Length of the name of a field in a problem, in characters.
const MAX_NAME_CHARS: usize = 100;

fn parse_field(name: &str, field: &Value, is_required: bool) -> FormField {
    let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = match field.get("type").and_then(Value::as_str) {
        Some("number") => FieldKind::Number,
        Some("integer") => FieldKind::Integer,
        Some("boolean") => FieldKind::YesNo,
        Some("array") => {
            FieldKind::SomeOf(field.get("items").and_then(parse_choices).unwrap_or_default())
        }
        _ => parse_choices(field).map_or(FieldKind::Text, FieldKind::OneOf),
    };
    let mut field = FormField {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        kind,
        is_required,
        default: None,
        bounds: field.clone(),
    };
    // A default that the field does not take is none.
    let default = field.bounds.get("default").cloned();
    field.default = default.and_then(|value| field.check(value).ok());
    field
}

/// Returns the choices of a field: `enum` with or without names, `oneOf` or `anyOf` with titles.
fn parse_choices(field: &Value) -> Option<Vec<FieldChoice>> {
    let list = |key: &str| field.get(key).and_then(Value::as_array);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(titled) = list("oneOf").or_else(|| list("anyOf")) {
        let choice = |one: &Value| {
            let value = text(one.get("const")?)?;
            let title = one.get("title").and_then(text).unwrap_or_else(|| value.clone());
            Some(FieldChoice { value, title })
        };
        return Some(titled.iter().filter_map(choice).collect());
    }
    let names = list("enumNames");
    let choice = |(index, value): (usize, &Value)| {
        let value = text(value)?;
        let title = names.and_then(|names| names.get(index)).and_then(text);
        Some(FieldChoice { title: title.unwrap_or_else(|| value.clone()), value })
    };
    Some(list("enum")?.iter().enumerate().filter_map(choice).collect())
}
