//! Appends in a transaction of their own: for outbox messages to other lanes, and to find out why
//! an append was rejected.

use windlass_core::projection::Row;
use windlass_runtime::ports::StoreError;

use super::append_batch::{self, BatchResult, GuardMode};
use super::connection::PgConnection;
use super::encoded_append::EncodedAppend;
use super::error::PgError;
use super::inbox;
use crate::validation::rejection;

pub(super) async fn write_each(
    link: &mut PgConnection,
    appends: &[&EncodedAppend],
) -> Result<BatchResult, PgError> {
    let mut all = BatchResult::default();
    for (ord, prepared) in (0..).zip(appends) {
        if !write_one(link, prepared).await?.passed_fence.is_empty() {
            all.passed_fence.insert(ord);
        }
    }
    Ok(all)
}

async fn write_one(
    link: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<BatchResult, PgError> {
    link.execute_batch("BEGIN").await?;
    match write_in_transaction(link, prepared).await {
        Ok(landed) => link.execute_batch("COMMIT").await.map(|()| landed),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(trouble) => link.execute_batch("ROLLBACK").await.and(Err(trouble)),
    }
}

async fn write_in_transaction(
    link: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<BatchResult, PgError> {
    let append = &prepared.append;
    let landed = match append_batch::write_batch(link, GuardMode::ByCaller, &[prepared]).await {
        Err(trouble) if trouble.is_conflict_on("run_active") => {
            return Err(PgError::Rejected(rejection::second_active_run(&append.lane)));
        }
        other => other?,
    };
    if landed.passed_fence.is_empty() {
        return Ok(landed);
    }
    if landed.marked_messages != append.messages_read.len().cast_signed() as i64 {
        return Err(PgError::Rejected(message_not_pending_error(link, prepared).await?));
    }
    if landed.written_runs != prepared.run_count() {
        return Err(PgError::Rejected(foreign_run_error(prepared)));
    }
    for (to, letter) in &prepared.messages {
        inbox::enqueue_message(link, to, letter, Some(&append.lane)).await?;
    }
    Ok(landed)
}

/// Returns the error for a message that was not pending. It is read outside of the transaction, in
/// which the other messages are already marked as read.
async fn message_not_pending_error(
    link: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<StoreError, PgError> {
    let append = &prepared.append;
    link.execute_batch("ROLLBACK; BEGIN").await?;
    let message = inbox::first_not_pending(link, &append.lane, &append.messages_read).await?;
    Ok(rejection::message_not_pending(&append.lane, message.unwrap_or_default()))
}

fn foreign_run_error(prepared: &EncodedAppend) -> StoreError {
    let mut runs = prepared.append.rows.iter().rev().filter_map(|row| match row {
        Row::Run(run) => Some(&run.run),
        Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => {
            None
        }
    });
    let run = runs.next().cloned().unwrap_or_else(|| "".into());
    rejection::foreign_run(&prepared.append.lane, &run)
}
