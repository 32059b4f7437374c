//! Checks of the server: too old, read-only, of another encoding, or behind a transaction pooler.

use windlass_runtime::ports::StoreError;

use super::connection::{PgConnection, TypedSql};
use super::error::PgError;
use crate::validation::invalid_argument;

use std::sync::LazyLock;

/// The oldest PostgreSQL that is supported.
const MIN_POSTGRES_VERSION: i64 = 15;

static DESCRIBE_SERVER: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT current_setting('server_version_num')::text, version()::text,
                       current_setting('server_encoding')::text,
                       current_setting('transaction_read_only')::text";
    TypedSql::new(text, &[])
});

static BACKEND_PID: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new("SELECT pg_backend_pid()::bigint", &[]));

/// Rejects a server on which later operations would fail.
pub(super) async fn check_server(link: &mut PgConnection) -> Result<(), PgError> {
    let place = link.location().to_owned();
    let rows = link.query(&DESCRIBE_SERVER, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let text = |column| row.try_get::<_, String>(column).unwrap_or_default();
    let judged = check_description(&place, &text(0), &text(1), &text(2), &text(3));
    judged.map_err(PgError::Rejected)
}

/// Checks the server's description. The version counts only for PostgreSQL itself: compatible
/// engines have version numbers of their own.
pub(super) fn check_description(
    place: &str,
    number: &str,
    version: &str,
    encoding: &str,
    read_only: &str,
) -> Result<(), StoreError> {
    let major = number.parse::<i64>().unwrap_or(0) / 10_000;
    let counts_differently = version.contains("Cockroach") || version.contains("-YB-");
    if major < MIN_POSTGRES_VERSION && !counts_differently {
        return Err(invalid_argument(format!(
            "{place} is PostgreSQL {major}; {MIN_POSTGRES_VERSION} or newer is needed, upgrade it"
        )));
    }
    if !encoding.eq_ignore_ascii_case("utf8") && !encoding.eq_ignore_ascii_case("utf-8") {
        return Err(invalid_argument(format!(
            "{place} is encoded as {encoding}; make a database with ENCODING 'UTF8'"
        )));
    }
    match read_only {
        "on" => Err(StoreError::ReadOnly { location: place.to_owned() }),
        _ => Ok(()),
    }
}

/// Returns whether two connections share one session: then a pooler assigns transactions, and what
/// is prepared on one connection may or may not exist on the other.
pub(super) async fn is_pooled(
    one: &mut PgConnection,
    two: &mut PgConnection,
) -> Result<bool, PgError> {
    Ok(backend_pid(one).await? == backend_pid(two).await?)
}

async fn backend_pid(link: &mut PgConnection) -> Result<i64, PgError> {
    let rows = link.query(&BACKEND_PID, &[]).await?;
    Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default())
}
