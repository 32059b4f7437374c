//! Lanes that want to be driven: those with mail, those that are due, those somebody dead left.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Look, SeenBeat, Wanting, WorkerId};

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};

static OWNERS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT owner, coalesce(beats, 0) FROM
             (SELECT DISTINCT owner FROM lane WHERE owner IS NOT NULL) AS o
         LEFT JOIN worker ON worker.worker_id = o.owner";
    Sql::new(text, &[])
});

static CLAIMABLE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH wants (no) AS (
             SELECT lane_no FROM mail WHERE read_seq IS NULL
             UNION
             SELECT no FROM lane WHERE owner IS NULL AND wake_at <= $1
             UNION
             SELECT no FROM lane WHERE owner = ANY($2) AND wake_at <= $1)
         SELECT lane.id, lane.owner, coalesce(worker.beats, 0)
         FROM wants JOIN lane ON lane.no = wants.no
         LEFT JOIN worker ON worker.worker_id = lane.owner
         WHERE lane.owner IS NULL OR lane.owner = ANY($2)
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT $3";
    Sql::new(text, &[Type::INT8, Type::TEXT_ARRAY, Type::INT8])
});

pub(super) async fn owners(link: &mut Link) -> Result<Vec<SeenBeat>, Trouble> {
    let rows = link.query(&OWNERS, &[]).await?;
    let owners = rows.iter().map(|row| seen(row, 0)).collect::<Result<Vec<_>, _>>();
    let owners = owners.map_err(|error| sort(link.place(), &error))?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) async fn claimable(link: &mut Link, look: &Look) -> Result<Vec<Wanting>, Trouble> {
    let now = i64::try_from(look.now.0).unwrap_or(i64::MAX);
    let dead: Vec<&str> = look.dead.iter().map(|dead| &*dead.worker).collect();
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let rows = link.query(&CLAIMABLE, &[&now, &dead, &most]).await?;
    let found = rows.iter().map(wanting).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| sort(link.place(), &error))?;
    let still = |owner: &SeenBeat| look.dead.contains(owner);
    Ok(found.into_iter().filter(|found| found.left_by.as_ref().is_none_or(still)).collect())
}

fn wanting(row: &Row) -> Result<Wanting, Error> {
    let lane = LaneId::from(row.try_get::<_, String>(0)?);
    Ok(Wanting { lane, left_by: seen(row, 1)? })
}

fn seen(row: &Row, at: usize) -> Result<Option<SeenBeat>, Error> {
    let beats = row.try_get::<_, i64>(at + 1)?.cast_unsigned();
    let worker: Option<WorkerId> = row.try_get::<_, Option<String>>(at)?.map(Arc::from);
    Ok(worker.map(|worker| SeenBeat { worker, beats }))
}
