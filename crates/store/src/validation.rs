//! Validates arguments that would corrupt a store, before they reach one.

use windlass_core::log::ids::{LaneId, Seq};
use windlass_core::projection::Row;
use windlass_runtime::ports::{Affinity, AppendRequest, Document, OutboxMessage, StoreError};

/// Maximum length of a lane id or an idempotency key, in bytes.
const MAX_NAME_BYTES: usize = 512;

pub(crate) fn validate_lane(lane: &LaneId) -> Result<(), StoreError> {
    validate_name("a lane id", lane.as_str())
}

pub(crate) fn validate_worker(worker: &str) -> Result<(), StoreError> {
    validate_name("a worker id", worker)
}

pub(crate) fn validate_message(message: &OutboxMessage) -> Result<(), StoreError> {
    validate_name("an idempotency key", &message.idempotency_key)
}

pub(crate) fn validate_affinity(affinity: &Affinity) -> Result<(), StoreError> {
    let names = [("a tenant", &affinity.tenant), ("an agent", &affinity.agent)];
    let names = names.into_iter().chain([("an affinity", &affinity.workspace)]);
    names
        .filter(|(_, text)| !text.is_empty())
        .try_for_each(|(what, text)| validate_name(what, text))
}

pub(crate) fn validate_document(document: &Document) -> Result<(), StoreError> {
    validate_name("the kind of a document", &document.kind)?;
    validate_name("the key of a document", &document.key)?;
    validate_tenant(&document.tenant)?;
    if document.subject.contains('\0') || document.body.contains('\0') {
        return Err(invalid_argument("a document contains a NUL byte; remove it".to_owned()));
    }
    Ok(())
}

pub(crate) fn validate_tenant(tenant: &str) -> Result<(), StoreError> {
    validate_name("a tenant", tenant)
}

/// Validates the form of an append; whether it may land is up to the fence.
pub(crate) fn validate_append(append: &AppendRequest) -> Result<(), StoreError> {
    validate_lane(&append.lane)?;
    for (to, out) in &append.outbox {
        validate_lane(to)?;
        validate_message(out)?;
    }
    append.rows.iter().try_for_each(validate_row)?;
    check_dense(append)
}

/// Validates a row. Run ids are UUIDs: the trace has a column of that type.
fn validate_row(row: &Row) -> Result<(), StoreError> {
    let run = match row {
        Row::Run(row) => &row.run,
        Row::Trace(row) => &row.run,
        Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => return Ok(()),
    };
    match run.is_uuid() {
        true => Ok(()),
        false => Err(invalid_argument(format!(
            "the run id `{run}` is not a UUID; give every run a UUID"
        ))),
    }
}

fn check_dense(append: &AppendRequest) -> Result<(), StoreError> {
    let due = (append.head.saturating_add(1))..;
    match due.zip(&append.entries).find(|(due, entry)| *due != entry.seq) {
        None => Ok(()),
        Some((due, entry)) => Err(gap_error(&append.lane, due, entry.seq)),
    }
}

fn gap_error(lane: &LaneId, due: Seq, found: Seq) -> StoreError {
    invalid_argument(format!(
        "lane {lane}: got entry {found}, expected {due}; reload the lane and decide again"
    ))
}

fn validate_name(what: &str, text: &str) -> Result<(), StoreError> {
    match text {
        "" => Err(invalid_argument(format!("{what} must not be empty"))),
        _ if text.contains('\0') => {
            Err(invalid_argument(format!("{what} contains a NUL byte; remove it")))
        }
        _ if text.len() > MAX_NAME_BYTES => Err(invalid_argument(format!(
            "{what} is {} bytes long; at most {MAX_NAME_BYTES} are allowed",
            text.len()
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn invalid_argument(message: String) -> StoreError {
    StoreError::Invalid { message }
}

/// Rejections that every store words alike.
pub(crate) mod rejection {
    use super::invalid_argument;
    use windlass_core::log::ids::{InboxMessageId, LaneId, RunId, Seq};
    use windlass_runtime::ports::StoreError;

    pub(crate) fn message_not_pending(lane: &LaneId, message: InboxMessageId) -> StoreError {
        invalid_argument(format!(
            "lane {lane}: message {message} is not in the inbox or was already read; reload the lane"
        ))
    }

    pub(crate) fn second_active_run(lane: &LaneId) -> StoreError {
        invalid_argument(format!(
            "lane {lane} already has an active run; end it before starting another"
        ))
    }

    pub(crate) fn foreign_run(lane: &LaneId, run: &RunId) -> StoreError {
        invalid_argument(format!(
            "run {run} does not belong to lane {lane}; give every run its own id"
        ))
    }

    pub(crate) fn fork_beyond_head(parent: &LaneId, at: Seq, head: Seq) -> StoreError {
        invalid_argument(format!("lane {parent} ends at entry {head}; it cannot be forked at {at}"))
    }

    pub(crate) fn unfinished_run(lane: &LaneId) -> StoreError {
        invalid_argument(format!(
            "{lane} has an unfinished run; cancel it first: windlass cancel {lane}"
        ))
    }

    pub(crate) fn has_forks(lane: &LaneId, fork: &LaneId) -> StoreError {
        invalid_argument(format!(
            "{fork} is a fork of {lane} and shares its history; delete the fork first"
        ))
    }

    pub(crate) fn fork_exists(child: &LaneId) -> StoreError {
        invalid_argument(format!("lane {child} already exists; choose another name for the fork"))
    }
}
