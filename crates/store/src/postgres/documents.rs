//! Documents: what a server keeps beside conversations.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::{Document, DocumentFilter, DocumentQuery, WriteCondition};

use super::connection::{PgConnection, SqlValue, TypedSql};
use super::connection_pool::AttemptState;
use super::error::{PgError, classify_error};
use crate::column_values;

const COLUMNS: &str = "kind, key, tenant, subject, due_at, version, body";

static READ_DOCUMENTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text =
        format!("SELECT {COLUMNS} FROM document WHERE kind = $1 AND key = ANY($2) ORDER BY key");
    TypedSql::new(&text, &[Type::TEXT, Type::TEXT_ARRAY])
});

static LIST_ALL: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = format!(
        "SELECT {COLUMNS} FROM document
         WHERE kind = $1 AND key > $2 AND ($3 IS NULL OR tenant = $3) ORDER BY key LIMIT $4"
    );
    TypedSql::new(&text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8])
});

static LIST_BY_SUBJECT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = format!(
        "SELECT {COLUMNS} FROM document
         WHERE kind = $1 AND subject = $5 AND subject <> '' AND key > $2
           AND ($3 IS NULL OR tenant = $3) ORDER BY key LIMIT $4"
    );
    TypedSql::new(&text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::TEXT])
});

static LIST_DUE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = format!(
        "SELECT {COLUMNS} FROM document
         WHERE kind = $1 AND due_at IS NOT NULL AND due_at <= $5 AND key > $2
           AND ($3 IS NULL OR tenant = $3) ORDER BY due_at, key LIMIT $4"
    );
    TypedSql::new(&text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::INT8])
});

static INSERT_DOCUMENT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO document (kind, key, tenant, subject, due_at, version, body)
         VALUES ($1, $2, $3, $4, $5, 1, $6) ON CONFLICT (kind, key) DO NOTHING RETURNING key";
    let texts = [Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::TEXT];
    TypedSql::new(text, &texts)
});

static UPDATE_DOCUMENT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE document SET tenant = $3, subject = $4, due_at = $5, body = $6,
             version = version + 1
         WHERE kind = $1 AND key = $2 AND version = $7 RETURNING key";
    let given = [Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::TEXT];
    TypedSql::new(text, &[&given[..], &[Type::INT8]].concat())
});

static DELETE_DOCUMENT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "DELETE FROM document WHERE kind = $1 AND key = $2
         AND ($3 IS NULL OR version = $3) RETURNING key";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT, Type::INT8])
});

pub(super) async fn read_documents(
    connection: &mut PgConnection,
    kind: &str,
    keys: &[Arc<str>],
) -> Result<Vec<Document>, PgError> {
    let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
    let rows = connection.query(&READ_DOCUMENTS, &[&kind, &keys]).await?;
    parse_documents(connection, &rows)
}

pub(super) async fn list_documents(
    connection: &mut PgConnection,
    query: &DocumentQuery,
) -> Result<Vec<Document>, PgError> {
    let limit = column_values::limit_column(query.limit);
    let (kind, after, tenant) = (&*query.kind, &*query.after, query.tenant.as_deref());
    let given: [SqlValue<'_>; 4] = [&kind, &after, &tenant, &limit];
    let rows = match &query.filter {
        DocumentFilter::All => connection.query(&LIST_ALL, &given).await?,
        DocumentFilter::Subject(subject) => {
            let subject = &**subject;
            let given = [&given[..], &[&subject]].concat();
            connection.query(&LIST_BY_SUBJECT, &given).await?
        }
        DocumentFilter::DueUntil(at) => {
            let at = column_values::saturating_column(at.0);
            let given = [&given[..], &[&at]].concat();
            connection.query(&LIST_DUE, &given).await?
        }
    };
    parse_documents(connection, &rows)
}

fn parse_documents(connection: &PgConnection, rows: &[Row]) -> Result<Vec<Document>, PgError> {
    let documents: Result<_, Error> = rows.iter().map(parse_document).collect();
    documents.map_err(|error| classify_error(connection.location(), &error))
}

fn parse_document(row: &Row) -> Result<Document, Error> {
    let text = |column| Ok::<Arc<str>, Error>(row.try_get::<_, &str>(column)?.into());
    Ok(Document {
        kind: text(0)?,
        key: text(1)?,
        tenant: text(2)?,
        subject: text(3)?,
        due_at: row.try_get::<_, Option<i64>>(4)?.map(|at| UnixMillis(at.cast_unsigned())),
        version: row.try_get::<_, i64>(5)?.cast_unsigned(),
        body: text(6)?,
    })
}

/// Writes a document if the condition holds, and returns whether it did. After a lost reply the
/// document shows whether the earlier attempt has written it.
pub(super) async fn write_document(
    connection: &mut PgConnection,
    document: &Document,
    condition: WriteCondition,
    attempt: AttemptState,
) -> Result<bool, PgError> {
    let due_at = document.due_at.map(|at| column_values::saturating_column(at.0));
    let (kind, key, tenant) = (&*document.kind, &*document.key, &*document.tenant);
    let (subject, body) = (&*document.subject, &*document.body);
    let given: [SqlValue<'_>; 6] = [&kind, &key, &tenant, &subject, &due_at, &body];
    let (rows, written_version) = match condition {
        WriteCondition::Absent => (connection.query(&INSERT_DOCUMENT, &given).await?, 1),
        WriteCondition::Version(version) => {
            let known = version.cast_signed();
            let given = [&given[..], &[&known]].concat();
            (connection.query(&UPDATE_DOCUMENT, &given).await?, version.saturating_add(1))
        }
    };
    if !rows.is_empty() || attempt == AttemptState::Fresh {
        return Ok(!rows.is_empty());
    }
    let found = read_documents(connection, kind, std::slice::from_ref(&document.key)).await?;
    let ours = Document { version: written_version, ..document.clone() };
    Ok(found.first() == Some(&ours))
}

pub(super) async fn delete_document(
    connection: &mut PgConnection,
    kind: &str,
    key: &str,
    version: Option<u64>,
    attempt: AttemptState,
) -> Result<bool, PgError> {
    let version = version.map(u64::cast_signed);
    let rows = connection.query(&DELETE_DOCUMENT, &[&kind, &key, &version]).await?;
    Ok(!rows.is_empty() || attempt == AttemptState::MayHaveLanded)
}
