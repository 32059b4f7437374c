//! Rows of events, newest first.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::ports::{Store, StoreError};
use windlass_server::EventFilter;

use super::to_page;
use crate::inspect::event_log::{EventReader, LoggedEvent, NEWEST_RUNS};

/// The conversations of the newest runs: of a tenant, if one is given.
pub(super) async fn newest_lanes(
    store: &dyn Store,
    tenant: Option<&str>,
) -> Result<BTreeSet<LaneId>, StoreError> {
    let runs = store.list_runs(None, NEWEST_RUNS).await?;
    let mine = runs.into_iter().filter(|run| tenant.is_none_or(|tenant| *run.tenant == *tenant));
    Ok(mine.map(|run| run.lane).collect())
}

/// The newest events of these conversations that pass the filter.
pub(super) async fn list_events(
    store: &dyn Store,
    lanes: BTreeSet<LaneId>,
    run: Option<&RunId>,
    filter: &EventFilter,
) -> Result<Value, StoreError> {
    let mut reader = EventReader::default();
    lanes.into_iter().for_each(|lane| reader.add_lane(lane));
    let events = reader.read_new(store).await?;
    let mine = events.iter().rev().filter(|event| {
        run.is_none_or(|run| event.belongs_to(run))
            && event.matches(filter.name.as_deref(), filter.text.as_deref())
    });
    Ok(to_page(mine.take(filter.limit).filter_map(event_row).collect()))
}

/// Removes events of workers that belong to no conversation, which are for operators.
pub(super) fn keep_conversations(events: &mut Value) {
    if let Some(rows) = events.get_mut("data").and_then(Value::as_array_mut) {
        rows.retain(|row| row.get("conversation_id").is_some_and(Value::is_string));
    }
}

/// The event as `windlass logs --json` prints it, with the names that the API has for ids.
fn event_row(event: &LoggedEvent) -> Option<Value> {
    let mut row: Value = serde_json::from_str(&event.to_json().ok()?).ok()?;
    let fields = row.as_object_mut()?;
    for (name, api_name) in [("conversation", "conversation_id"), ("run", "run_id")] {
        let id = fields.remove(name).unwrap_or_default();
        let id = id.as_str().map(|id| LaneId::from(id).session_id().to_owned());
        fields.insert(api_name.to_owned(), id.into());
    }
    for name in ["agent", "profile"] {
        fields.entry(name).or_insert_with(|| Value::from(""));
    }
    Some(row)
}
