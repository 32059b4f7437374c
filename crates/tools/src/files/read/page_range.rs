//! Page ranges of a document: `3`, or `2-5`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::limits::MAX_PDF_PAGES;

/// A range of pages, both ends in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRange {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl PageRange {
    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last && last - first < MAX_PDF_PAGES => {
                Ok(Self { first, last })
            }
            (Some(first), Some(last)) if first <= last => {
                Err(format!("at most {MAX_PDF_PAGES} pages are read at once"))
            }
            _ => Err(format!("{text:?} is not a page range; write \"3\" or \"1-5\"")),
        }
    }
}

impl<'de> Deserialize<'de> for PageRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PageRange {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Pages")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" })
    }
}
