//! Lanes that want to be driven: those with mail, those that are due, those somebody dead left.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{Look, SeenBeat, WorkerId};

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};

/// Walks from owner to owner, not from lane to lane.
static OWNERS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT o.owner, coalesce(worker.beats, 0) FROM o
         LEFT JOIN worker ON worker.worker_id = o.owner WHERE o.owner IS NOT NULL";
    Sql::new(text, &[])
});

static CLAIMABLE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH wants (no) AS (
             SELECT lane_no FROM mail WHERE read_seq IS NULL
             UNION
             SELECT no FROM lane WHERE owner IS NULL AND wake_at <= $1)
         SELECT lane.id FROM wants JOIN lane ON lane.no = wants.no
         WHERE lane.owner IS NULL
           AND (lane.agent = '' OR lane.agent = ANY($3))
           AND (lane.affinity = '' OR lane.affinity = ANY($4))
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT $2";
    Sql::new(text, &[Type::INT8, Type::INT8, Type::TEXT_ARRAY, Type::TEXT_ARRAY])
});

static MAILED: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT DISTINCT lane.id FROM mail JOIN lane ON lane.no = mail.lane_no
         WHERE mail.read_seq IS NULL AND lane.owner = $1";
    Sql::new(text, &[Type::TEXT])
});

/// Lanes of `owner` in which mail lies.
pub(super) async fn mailed(link: &mut Link, owner: &WorkerId) -> Result<Vec<LaneId>, Trouble> {
    let rows = link.query(&MAILED, &[&&**owner]).await?;
    lanes(link, &rows)
}

pub(super) async fn owners(link: &mut Link) -> Result<Vec<SeenBeat>, Trouble> {
    let rows = link.query(&OWNERS, &[]).await?;
    let owners = rows.iter().map(|row| seen(row, 0)).collect::<Result<Vec<_>, _>>();
    let owners = owners.map_err(|error| sort(link.place(), &error))?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) async fn claimable(link: &mut Link, look: &Look) -> Result<Vec<LaneId>, Trouble> {
    let now = i64::try_from(look.now.0).unwrap_or(i64::MAX);
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let agents: Vec<&str> = look.reach.agents.iter().map(|agent| &**agent).collect();
    let affinities: Vec<&str> = look.reach.affinities.iter().map(|place| &**place).collect();
    let rows = link.query(&CLAIMABLE, &[&now, &most, &agents, &affinities]).await?;
    lanes(link, &rows)
}

fn lanes(link: &Link, rows: &[Row]) -> Result<Vec<LaneId>, Trouble> {
    let lane = |row: &Row| Ok(LaneId::from(row.try_get::<_, String>(0)?));
    let lanes: Result<_, Error> = rows.iter().map(lane).collect();
    lanes.map_err(|error| sort(link.place(), &error))
}

fn seen(row: &Row, at: usize) -> Result<Option<SeenBeat>, Error> {
    let beats = row.try_get::<_, i64>(at + 1)?.cast_unsigned();
    let worker: Option<WorkerId> = row.try_get::<_, Option<String>>(at)?.map(Arc::from);
    Ok(worker.map(|worker| SeenBeat { worker, beats }))
}
