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
    version: Option<u64>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryEdit {
    entry: u32,
    action: EditAction,
    text: Option<String>,
    version: u64,
}

impl input::Input for EntryEdit {}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EditAction {
    Change,
    Resolve,
    Reopen,
    Remove,
}

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
    Ok(match fields.version {
        Some(version) => Wish::ChangeAsOf { version, changes },
        None => Wish::Change(changes),
    })
}

pub(super) fn append(input: &Raw) -> Result<Wish, ToolError> {
    let Entry { section, entry } = input::read(input)?;
    if entry.trim().is_empty() {
        return Err(invalid("the entry is empty; say what is to be kept"));
    }
    Ok(Wish::Change(vec![Change::Append { list: section, text: Arc::from(entry) }]))
}

pub(super) fn edit(input: &Raw) -> Result<Wish, ToolError> {
    let EntryEdit { entry, action, text, version } = input::read(input)?;
    let text = text.filter(|text| !text.trim().is_empty());
    let change = match (action, text) {
        (EditAction::Change, Some(text)) => Change::Edit { entry, text: Arc::from(text) },
        (EditAction::Change, None) => {
            return Err(invalid("there is no text; give the entry's new text"));
        }
        (EditAction::Resolve, None) => Change::Resolve { entry },
        (EditAction::Reopen, None) => Change::Reopen { entry },
        (EditAction::Remove, None) => Change::Remove { entry },
        (_, Some(_)) => return Err(invalid("only change takes a text; leave it out")),
    };
    Ok(Wish::ChangeAsOf { version, changes: vec![change] })
}
