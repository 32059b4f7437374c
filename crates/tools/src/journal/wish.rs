//! What a call wants of the journal.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::journal::{Change, Field, List, Wish};
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use crate::input::{self, invalid};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    objective: Option<String>,
    current_state: Option<String>,
    handoff_next_action: Option<String>,
}

impl input::Input for Fields {}

impl input::Input for Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    section: List,
    entry: String,
}

impl input::Input for Entry {}

pub(super) fn read(input: &Raw) -> Result<Wish, ToolError> {
    input::read::<Nothing>(input).map(|_| Wish::Read)
}

pub(super) fn update(input: &Raw) -> Result<Wish, ToolError> {
    let fields: Fields = input::read(input)?;
    let given = [
        (Field::Objective, fields.objective),
        (Field::CurrentState, fields.current_state),
        (Field::HandoffNextAction, fields.handoff_next_action),
    ];
    let set = |(field, text): (Field, Option<String>)| {
        text.map(|text| Change::Set { field, text: Arc::from(text) })
    };
    let changes: Vec<Change> = given.into_iter().filter_map(set).collect();
    if changes.is_empty() {
        return Err(invalid("give objective, current_state or handoff_next_action a text"));
    }
    Ok(Wish::Change(changes))
}

pub(super) fn append(input: &Raw) -> Result<Wish, ToolError> {
    let Entry { section, entry } = input::read(input)?;
    if entry.trim().is_empty() {
        return Err(invalid("the entry is empty; say what is to be kept"));
    }
    Ok(Wish::Change(vec![Change::Append { list: section, text: Arc::from(entry) }]))
}
