//! A fast check for schemas with the usual keywords, which accepts or does not decide.
//!
//! Nearly every call fits its schema, and compiling a JSON Schema takes longer than everything else
//! that a call needs. Whatever this check does not accept goes to the full validator, so an input
//! is only ever rejected there, and a schema is only ever reported as unusable there.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

/// A schema in which every keyword is known and well formed.
#[derive(Debug, Default)]
pub(super) struct PlainSchema {
    types: Option<Vec<ValueType>>,
    properties: Vec<(String, PlainSchema)>,
    required: Vec<String>,
    additional: Additional,
    items: Option<Box<PlainSchema>>,
    any_of: Option<Vec<PlainSchema>>,
    choices: Option<Vec<Value>>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
}

/// What properties without a schema of their own must fit.
#[derive(Debug, Default)]
enum Additional {
    #[default]
    Anything,
    Nothing,
    Fitting(Box<PlainSchema>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    Null,
}

impl PlainSchema {
    /// Parses a schema; `None` if it has any other keyword, or one that is not well formed.
    pub(super) fn read(schema: &Value) -> Option<Self> {
        let mut plain = Self::default();
        for (keyword, value) in schema.as_object()? {
            plain.take(keyword, value)?;
        }
        Some(plain)
    }

    fn take(&mut self, keyword: &str, value: &Value) -> Option<()> {
        match keyword {
            "title" | "description" => drop(value.as_str()?),
            "default" => {}
            "examples" => drop(value.as_array()?),
            "type" => self.types = Some(types(value)?),
            "properties" => self.properties = properties(value.as_object()?)?,
            "required" => self.required = distinct_names(value)?,
            "additionalProperties" => self.additional = Additional::read(value)?,
            "items" => self.items = Some(Box::new(Self::read(value)?)),
            "anyOf" => self.any_of = Some(alternatives(value)?),
            "enum" => self.choices = Some(not_empty(value)?.clone()),
            "minimum" => self.minimum = Some(value.as_i64()?),
            "maximum" => self.maximum = Some(value.as_i64()?),
            "minLength" => self.min_length = Some(value.as_u64()?),
            "maxLength" => self.max_length = Some(value.as_u64()?),
            "minItems" => self.min_items = Some(value.as_u64()?),
            "maxItems" => self.max_items = Some(value.as_u64()?),
            _ => return None,
        }
        Some(())
    }

    /// Returns whether the value certainly fits.
    pub(super) fn surely_fits(&self, value: &Value) -> bool {
        let is_of_type = |types: &Vec<ValueType>| types.iter().any(|kind| kind.is_of(value));
        self.types.as_ref().is_none_or(is_of_type)
            && self.choices.as_ref().is_none_or(|choices| choices.contains(value))
            && self.any_of.as_ref().is_none_or(|any| any.iter().any(|one| one.surely_fits(value)))
            && match value {
                Value::Object(members) => self.fits_object(members),
                Value::Array(items) => self.fits_array(items),
                Value::String(text) => self.fits_string(text),
                Value::Number(number) => self.fits_number(number),
                Value::Bool(_) | Value::Null => true,
            }
    }

    fn fits_object(&self, members: &Map<String, Value>) -> bool {
        let fits = |(name, value): (&String, &Value)| match self
            .properties
            .iter()
            .find(|(known, _)| known == name)
        {
            Some((_, schema)) => schema.surely_fits(value),
            None => self.additional.surely_fits(value),
        };
        self.required.iter().all(|name| members.contains_key(name)) && members.iter().all(fits)
    }

    fn fits_array(&self, items: &[Value]) -> bool {
        is_within(items.len(), self.min_items, self.max_items)
            && self
                .items
                .as_ref()
                .is_none_or(|schema| items.iter().all(|item| schema.surely_fits(item)))
    }

    fn fits_string(&self, text: &str) -> bool {
        let is_bounded = self.min_length.is_some() || self.max_length.is_some();
        !is_bounded || is_within(text.chars().count(), self.min_length, self.max_length)
    }

    fn fits_number(&self, number: &Number) -> bool {
        match (self.minimum, self.maximum, number.as_i64()) {
            (None, None, _) => true,
            // Comparing fractions and huge numbers exactly is left to the full validator.
            (_, _, None) => false,
            (minimum, maximum, Some(number)) => {
                minimum.is_none_or(|least| number >= least)
                    && maximum.is_none_or(|limit| number <= limit)
            }
        }
    }
}

impl Additional {
    fn read(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(true) => Self::Anything,
            Value::Bool(false) => Self::Nothing,
            schema => Self::Fitting(Box::new(PlainSchema::read(schema)?)),
        })
    }

    fn surely_fits(&self, value: &Value) -> bool {
        match self {
            Self::Anything => true,
            Self::Nothing => false,
            Self::Fitting(schema) => schema.surely_fits(value),
        }
    }
}

impl ValueType {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            _ => return None,
        })
    }

    fn is_of(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Null => value.is_null(),
        }
    }
}

fn types(value: &Value) -> Option<Vec<ValueType>> {
    match value {
        Value::String(name) => Some(vec![ValueType::named(name)?]),
        names => distinct_names(names)?.iter().map(|name| ValueType::named(name)).collect(),
    }
}

fn properties(members: &Map<String, Value>) -> Option<Vec<(String, PlainSchema)>> {
    let read = |(name, schema): (&String, &Value)| Some((name.clone(), PlainSchema::read(schema)?));
    members.iter().map(read).collect()
}

fn alternatives(value: &Value) -> Option<Vec<PlainSchema>> {
    not_empty(value)?.iter().map(PlainSchema::read).collect()
}

fn distinct_names(value: &Value) -> Option<Vec<String>> {
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let names: Vec<String> = value.as_array()?.iter().map(name).collect::<Option<_>>()?;
    let distinct: BTreeSet<&String> = names.iter().collect();
    (distinct.len() == names.len()).then_some(names)
}

fn not_empty(value: &Value) -> Option<&Vec<Value>> {
    value.as_array().filter(|values| !values.is_empty())
}

fn is_within(length: usize, least: Option<u64>, most: Option<u64>) -> bool {
    let length = length as u64;
    least.is_none_or(|least| length >= least) && most.is_none_or(|limit| length <= limit)
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod plain_tests;
