//! Forking a lane. Heads only grow, so the head that was read still holds when the fork is
//! inserted; the parent's row is locked, so that it is not removed at the same moment.

use std::sync::LazyLock;

use tokio_postgres::Error;
use tokio_postgres::types::Type;
use windlass_core::log::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use crate::validation::rejection;

static FIND_LANE_HEAD: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new("SELECT no, head FROM lane WHERE id = $1", &[Type::TEXT]));

static INSERT_FORK: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH origin AS (SELECT * FROM lane WHERE no = $2 FOR UPDATE)
         INSERT INTO lane (id, tenant, agent, affinity, folder, fork_parent, fork_seq, head)
         SELECT $1, tenant, agent, affinity, folder, no, $3, $3 FROM origin
         ON CONFLICT DO NOTHING RETURNING no";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

static FIND_FORK_ORIGIN: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT no FROM lane WHERE id = $1 AND fork_parent = $2 AND fork_seq = $3";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

pub(super) async fn fork_lane(
    link: &mut PgConnection,
    parent: &LaneId,
    at: Seq,
    child: &LaneId,
) -> Result<(), PgError> {
    let (no, head) = find_lane_head(link, parent).await?;
    if at > head {
        return Err(PgError::Rejected(rejection::fork_beyond_head(parent, at, head)));
    }
    let values: [super::connection::SqlValue<'_>; 3] = [&child.as_str(), &no, &at.cast_signed()];
    let is_made = !link.query(&INSERT_FORK, &values).await?.is_empty();
    // Repeating a fork after its reply was lost is harmless.
    if is_made || !link.query(&FIND_FORK_ORIGIN, &values).await?.is_empty() {
        return Ok(());
    }
    Err(PgError::Rejected(rejection::fork_exists(child)))
}

async fn find_lane_head(link: &mut PgConnection, lane: &LaneId) -> Result<(i64, Seq), PgError> {
    let rows = link.query(&FIND_LANE_HEAD, &[&lane.as_str()]).await?;
    let row = rows.first();
    let row =
        row.ok_or_else(|| PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))?;
    let read = || Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.cast_unsigned()));
    read().map_err(|error: Error| classify_error(link.location(), &error))
}
