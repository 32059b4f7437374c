//! Schema versions of a database. Whoever changes the tables holds the version's row, so that two who start
//! at the same moment do it once, and a crash leaves the old schema or the new one.

use std::sync::LazyLock;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::link::{Link, Sql};
use super::trouble::Trouble;
use crate::migrations::Migrations;
use crate::valid::invalid;

/// Every schema change of the database.
const MIGRATIONS: Migrations = Migrations::new(&[include_str!("schema/100_tables.sql")]);

const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS windlass_schema (
    one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)";

static FIRST: LazyLock<Sql> = LazyLock::new(|| {
    let text = "INSERT INTO windlass_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
    Sql::new(text, &[])
});
static LOOK: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT version FROM windlass_schema WHERE one = 1", &[]));
static HOLD: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT version FROM windlass_schema WHERE one = 1 FOR UPDATE", &[]));
static WRITE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("UPDATE windlass_schema SET version = $1 WHERE one = 1", &[Type::INT8])
});

/// What the later of two is told, by where the earlier one was at that moment.
const MADE_BY_ANOTHER: [SqlState; 3] =
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];

/// Brings the database to the newest schema; one that is newer still, or of a development version, is
/// left alone.
pub(super) async fn migrate(link: &mut Link) -> Result<(), Trouble> {
    match known(link).await? {
        Some(version) if version == MIGRATIONS.newest() => return Ok(()),
        Some(version) => drop(pending(link, version)?),
        None => make_version(link).await?,
    }
    link.batch("BEGIN").await?;
    let done = forward(link).await;
    link.batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    done
}

async fn forward(link: &mut Link) -> Result<(), Trouble> {
    // Asked again under the lock: another process may have been faster.
    let version = version(link, &HOLD).await?.unwrap_or_default();
    for step in pending(link, version)? {
        link.batch(step).await.map_err(|trouble| taken(link.place(), trouble))?;
    }
    link.query(&WRITE, &[&MIGRATIONS.newest()]).await.map(drop)
}

fn pending(link: &Link, version: i64) -> Result<&'static [&'static str], Trouble> {
    MIGRATIONS.pending(link.place(), version).map_err(Trouble::Refused)
}

/// The version, or nothing if nobody was here yet.
async fn known(link: &mut Link) -> Result<Option<i64>, Trouble> {
    match version(link, &LOOK).await {
        Err(Trouble::Server(fault)) if fault.code == SqlState::UNDEFINED_TABLE => Ok(None),
        other => other,
    }
}

async fn version(link: &mut Link, sql: &'static Sql) -> Result<Option<i64>, Trouble> {
    let rows = link.query(sql, &[]).await?;
    Ok(rows.first().and_then(|row| row.try_get(0).ok()))
}

async fn make_version(link: &mut Link) -> Result<(), Trouble> {
    match link.batch(VERSION_TABLE).await {
        // Two who make it at the same moment: `IF NOT EXISTS` looks and then makes.
        Err(Trouble::Server(fault)) if MADE_BY_ANOTHER.contains(&fault.code) => (),
        other => other?,
    }
    link.query(&FIRST, &[]).await.map(drop)
}

fn taken(place: &str, trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Server(fault) if fault.code == SqlState::DUPLICATE_TABLE => {
            Trouble::Refused(invalid(format!(
                "{place} holds tables of another program; give windlass a database of its own"
            )))
        }
        other => other,
    }
}
