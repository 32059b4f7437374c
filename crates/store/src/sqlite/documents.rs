//! Documents: what a server keeps beside conversations.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::{Document, DocumentFilter, DocumentQuery, WriteCondition};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use crate::column_values;

const LIST_ALL: &str = "SELECT kind, key, tenant, subject, due_at, version, body FROM document
     WHERE kind = ?1 AND key > ?2 AND (?3 IS NULL OR tenant = ?3) ORDER BY key LIMIT ?4";

const LIST_BY_SUBJECT: &str = "SELECT kind, key, tenant, subject, due_at, version, body
     FROM document INDEXED BY document_by_subject
     WHERE kind = ?1 AND subject = ?5 AND subject <> '' AND key > ?2
       AND (?3 IS NULL OR tenant = ?3) ORDER BY key LIMIT ?4";

const LIST_DUE: &str = "SELECT kind, key, tenant, subject, due_at, version, body
     FROM document INDEXED BY document_due
     WHERE kind = ?1 AND due_at <= ?5 AND key > ?2 AND (?3 IS NULL OR tenant = ?3)
     ORDER BY due_at, key LIMIT ?4";

pub(super) fn read_documents(
    connection: &Connection,
    kind: &str,
    keys: &[Arc<str>],
) -> Result<Vec<Document>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT kind, key, tenant, subject, due_at, version, body FROM document
         WHERE kind = ?1 AND key IN (SELECT value FROM json_each(?2)) ORDER BY key",
    )?;
    let keys = serde_json::to_string(keys).unwrap_or_default();
    let rows = statement.query_map(params![kind, keys], parse_document)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn list_documents(
    connection: &Connection,
    query: &DocumentQuery,
) -> Result<Vec<Document>, WorkError> {
    let limit = column_values::limit_column(query.limit);
    let (kind, after, tenant) = (&*query.kind, &*query.after, query.tenant.as_deref());
    let rows = match &query.filter {
        DocumentFilter::All => prepare_cached(connection, LIST_ALL)?
            .query_map(params![kind, after, tenant, limit], parse_document)?
            .collect::<Result<_, _>>(),
        DocumentFilter::Subject(subject) => prepare_cached(connection, LIST_BY_SUBJECT)?
            .query_map(params![kind, after, tenant, limit, &**subject], parse_document)?
            .collect::<Result<_, _>>(),
        DocumentFilter::DueUntil(at) => prepare_cached(connection, LIST_DUE)?
            .query_map(
                params![kind, after, tenant, limit, column_values::saturating_column(at.0)],
                parse_document,
            )?
            .collect::<Result<_, _>>(),
    };
    Ok(rows?)
}

fn parse_document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        kind: row.get(0)?,
        key: row.get(1)?,
        tenant: row.get(2)?,
        subject: row.get(3)?,
        due_at: row.get::<_, Option<i64>>(4)?.map(|at| UnixMillis(at.cast_unsigned())),
        version: row.get::<_, i64>(5)?.cast_unsigned(),
        body: row.get(6)?,
    })
}

/// Writes a document if the condition holds, and returns whether it did.
pub(super) fn write_document(
    connection: &Connection,
    document: &Document,
    condition: WriteCondition,
) -> Result<bool, WorkError> {
    let due_at = document.due_at.map(|at| column_values::saturating_column(at.0));
    let (kind, key, tenant) = (&*document.kind, &*document.key, &*document.tenant);
    let (subject, body) = (&*document.subject, &*document.body);
    let written = match condition {
        WriteCondition::Absent => prepare_cached(
            connection,
            "INSERT INTO document (kind, key, tenant, subject, due_at, version, body)
             VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6) ON CONFLICT DO NOTHING",
        )?
        .execute(params![kind, key, tenant, subject, due_at, body])?,
        WriteCondition::Version(version) => prepare_cached(
            connection,
            "UPDATE document SET tenant = ?3, subject = ?4, due_at = ?5, body = ?6,
                 version = version + 1
             WHERE kind = ?1 AND key = ?2 AND version = ?7",
        )?
        .execute(params![
            kind,
            key,
            tenant,
            subject,
            due_at,
            body,
            version.cast_signed()
        ])?,
    };
    Ok(written == 1)
}

pub(super) fn delete_document(
    connection: &Connection,
    kind: &str,
    key: &str,
    version: Option<u64>,
) -> Result<bool, WorkError> {
    let deleted = prepare_cached(
        connection,
        "DELETE FROM document WHERE kind = ?1 AND key = ?2 AND (?3 IS NULL OR version = ?3)",
    )?
    .execute(params![kind, key, version.map(u64::cast_signed)])?;
    Ok(deleted == 1)
}
