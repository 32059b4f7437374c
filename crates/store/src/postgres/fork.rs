//! A lane that begins as another one. Heads only grow, so what was looked at still holds when the
//! child is made; the parent's row is locked for it, so that nobody removes it at that moment.

use std::sync::LazyLock;

use tokio_postgres::Error;
use tokio_postgres::types::Type;
use windlass_core::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};
use crate::valid::refusal;

static FIND: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT no, head FROM lane WHERE id = $1", &[Type::TEXT]));

static MAKE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH origin AS (SELECT * FROM lane WHERE no = $2 FOR UPDATE)
         INSERT INTO lane (id, tenant, agent, affinity, folder, parent, parent_at, head)
         SELECT $1, tenant, agent, affinity, folder, no, $3, $3 FROM origin
         ON CONFLICT DO NOTHING RETURNING no";
    Sql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

static ORIGIN: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT no FROM lane WHERE id = $1 AND parent = $2 AND parent_at = $3";
    Sql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

pub(super) async fn fork(
    link: &mut Link,
    parent: &LaneId,
    at: Seq,
    child: &LaneId,
) -> Result<(), Trouble> {
    let (no, head) = find(link, parent).await?;
    if at > head {
        return Err(Trouble::Refused(refusal::fork_beyond_head(parent, at, head)));
    }
    let values: [super::link::Value<'_>; 3] = [&child.as_str(), &no, &at.cast_signed()];
    let is_made = !link.query(&MAKE, &values).await?.is_empty();
    // Asking again after a lost answer does no harm.
    if is_made || !link.query(&ORIGIN, &values).await?.is_empty() {
        return Ok(());
    }
    Err(Trouble::Refused(refusal::fork_exists(child)))
}

async fn find(link: &mut Link, lane: &LaneId) -> Result<(i64, Seq), Trouble> {
    let rows = link.query(&FIND, &[&lane.as_str()]).await?;
    let row = rows.first();
    let row = row.ok_or_else(|| Trouble::Refused(StoreError::NoLane { lane: lane.clone() }))?;
    let read = || Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.cast_unsigned()));
    read().map_err(|error: Error| sort(link.place(), &error))
}
