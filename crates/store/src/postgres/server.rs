//! What kind of server it is: too old, read-only, of another encoding, or behind a pool.

use windlass_runtime::ports::StoreError;

use super::link::{Link, Sql};
use super::trouble::Trouble;
use crate::valid::invalid;

use std::sync::LazyLock;

/// The oldest PostgreSQL that is supported.
const OLDEST: i64 = 15;

static DESCRIBE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT current_setting('server_version_num')::text, version()::text,
                       current_setting('server_encoding')::text,
                       current_setting('transaction_read_only')::text";
    Sql::new(text, &[])
});

static SESSION: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT pg_backend_pid()::bigint", &[]));

/// Refuses a server that would fail later.
pub(super) async fn examine(link: &mut Link) -> Result<(), Trouble> {
    let place = link.place().to_owned();
    let rows = link.query(&DESCRIBE, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let text = |column| row.try_get::<_, String>(column).unwrap_or_default();
    let judged = judge(&place, &text(0), &text(1), &text(2), &text(3));
    judged.map_err(Trouble::Refused)
}

/// The version counts only for PostgreSQL itself: others that speak like it count their own way.
pub(super) fn judge(
    place: &str,
    number: &str,
    version: &str,
    encoding: &str,
    read_only: &str,
) -> Result<(), StoreError> {
    let major = number.parse::<i64>().unwrap_or(0) / 10_000;
    let counts_differently = version.contains("Cockroach") || version.contains("-YB-");
    if major < OLDEST && !counts_differently {
        return Err(invalid(format!(
            "{place} is PostgreSQL {major}; {OLDEST} or newer is needed, upgrade it"
        )));
    }
    if !encoding.eq_ignore_ascii_case("utf8") && !encoding.eq_ignore_ascii_case("utf-8") {
        return Err(invalid(format!(
            "{place} is encoded as {encoding}; make a database with ENCODING 'UTF8'"
        )));
    }
    match read_only {
        "on" => Err(StoreError::ReadOnly { place: place.to_owned() }),
        _ => Ok(()),
    }
}

/// Whether two connections are one behind the scenes: then a pool hands out transactions, and what
/// is prepared on one is found, or not, on another.
pub(super) async fn is_pooled(one: &mut Link, two: &mut Link) -> Result<bool, Trouble> {
    Ok(session(one).await? == session(two).await?)
}

async fn session(link: &mut Link) -> Result<i64, Trouble> {
    let rows = link.query(&SESSION, &[]).await?;
    Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default())
}
