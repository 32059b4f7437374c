//! The request that a call makes to the journal.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::journal::{JournalChange, JournalField, JournalList, JournalRequest};

use crate::tool_definition::tool_input::{self, invalid_input_error};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalGetInput {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalUpdateInput {
    objective: Option<String>,
    current_state: Option<String>,
    handoff_next_action: Option<String>,
    version: Option<u64>,
}

impl tool_input::ToolInput for JournalUpdateInput {}

impl tool_input::ToolInput for JournalGetInput {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalAppendInput {
    section: JournalList,
    entry: String,
}

impl tool_input::ToolInput for JournalAppendInput {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalEditInput {
    entry: u32,
    action: JournalEditAction,
    text: Option<String>,
    version: u64,
}

impl tool_input::ToolInput for JournalEditInput {}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalEditAction {
    Change,
    Resolve,
    Reopen,
    Remove,
}

pub(super) fn parse_get(input: &RawJson) -> Result<JournalRequest, ToolError> {
    tool_input::read_input::<JournalGetInput>(input).map(|_| JournalRequest::Read)
}

pub(super) fn parse_update(input: &RawJson) -> Result<JournalRequest, ToolError> {
    let fields: JournalUpdateInput = tool_input::read_input(input)?;
    let given = [
        (JournalField::Objective, fields.objective),
        (JournalField::CurrentState, fields.current_state),
        (JournalField::HandoffNextAction, fields.handoff_next_action),
    ];
    let set = |(field, text): (JournalField, Option<String>)| {
        text.map(|text| JournalChange::Set { field, text: Arc::from(text) })
    };
    let changes: Vec<JournalChange> = given.into_iter().filter_map(set).collect();
    if changes.is_empty() {
        return Err(invalid_input_error(
            "set at least one of objective, current_state, handoff_next_action",
        ));
    }
    Ok(match fields.version {
        Some(version) => JournalRequest::ChangeIfUnmodified { version, changes },
        None => JournalRequest::Change(changes),
    })
}

pub(super) fn parse_append(input: &RawJson) -> Result<JournalRequest, ToolError> {
    let JournalAppendInput { section, entry } = tool_input::read_input(input)?;
    if entry.trim().is_empty() {
        return Err(invalid_input_error("the entry is empty; write what to keep"));
    }
    Ok(JournalRequest::Change(vec![JournalChange::Append {
        list: section,
        text: Arc::from(entry),
    }]))
}

pub(super) fn parse_edit(input: &RawJson) -> Result<JournalRequest, ToolError> {
    let JournalEditInput { entry, action, text, version } = tool_input::read_input(input)?;
    let text = text.filter(|text| !text.trim().is_empty());
    let change = match (action, text) {
        (JournalEditAction::Change, Some(text)) => {
            JournalChange::Edit { entry, text: Arc::from(text) }
        }
        (JournalEditAction::Change, None) => {
            return Err(invalid_input_error("text is missing; pass the new text of the entry"));
        }
        (JournalEditAction::Resolve, None) => JournalChange::Resolve { entry },
        (JournalEditAction::Reopen, None) => JournalChange::Reopen { entry },
        (JournalEditAction::Remove, None) => JournalChange::Remove { entry },
        (_, Some(_)) => {
            return Err(invalid_input_error("only the action change takes a text; omit it"));
        }
    };
    Ok(JournalRequest::ChangeIfUnmodified { version, changes: vec![change] })
}
