//! Settling what dead owners left, and saying whose a lane is.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::{LaneId, RunId};
use windlass_core::project::CheckpointKind;
use windlass_runtime::ports::{Left, Reconcile, Resume, SeenBeat, Whose};

use super::link::{Link, Sql};
use super::text;
use super::trouble::{Trouble, sort};

/// One statement: the lanes of an owner that still shows the very beat it was seen with are fenced,
/// and the runs at work on them marked. A run that cannot go on by itself waits for a person,
/// whatever the policy is. Lanes that somebody is writing to are passed over.
static RECONCILE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH left_lanes AS (
            SELECT no, id FROM lane WHERE owner = $1
                AND $2 = coalesce((SELECT beats FROM worker WHERE worker_id = $1), 0)
            ORDER BY no LIMIT $3 FOR UPDATE SKIP LOCKED),
        stood AS (
            SELECT l.no, l.id, run.run_id, coalesce(
                (SELECT c.kind FROM checkpoint c WHERE c.lane_no = l.no AND c.run_id = run.run_id
                 ORDER BY c.seq DESC LIMIT 1) = ANY($4), false) AS resumable,
                CASE $5 WHEN 'at_once' THEN false WHEN 'offered' THEN true
                    ELSE coalesce(run.resume_policy, 'automatic') <> 'automatic' END AS offered
            FROM left_lanes l LEFT JOIN run
                ON run.lane_no = l.no AND run.active AND run.state = 'running'),
        marked AS (
            UPDATE run SET state = 'timed_out', resume_available = stood.resumable
            FROM stood WHERE run.run_id = stood.run_id),
        freed AS (
            UPDATE lane SET owner = NULL, epoch = lane.epoch + 1,
                wake_at = CASE WHEN stood.run_id IS NOT NULL AND (stood.offered OR NOT stood.resumable)
                    THEN NULL ELSE wake_at END
            FROM stood WHERE lane.no = stood.no)
        SELECT id, run_id, resumable FROM stood";
    Sql::new(text, &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT_ARRAY, Type::TEXT])
});

static INTRODUCE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "INSERT INTO lane (id, tenant, agent, affinity, folder)
         VALUES ($1, coalesce(nullif($2, ''), 'default'), $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET affinity = excluded.affinity, folder = excluded.folder
         WHERE lane.affinity = '' AND excluded.affinity <> ''";
    Sql::new(text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT])
});

static WAKE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "UPDATE lane SET wake_at = 0 WHERE id = $1 AND active_run IS NOT NULL RETURNING no";
    Sql::new(text, &[Type::TEXT])
});

/// Makes an unfinished run due at once.
pub(super) async fn wake(link: &mut Link, lane: &LaneId) -> Result<bool, Trouble> {
    Ok(!link.query(&WAKE, &[&lane.as_str()]).await?.is_empty())
}

pub(super) async fn reconcile(link: &mut Link, pass: &Reconcile) -> Result<Vec<Left>, Trouble> {
    let mut left = Vec::new();
    for dead in &pass.dead {
        left.extend(lanes_of(link, pass, dead, pass.most.saturating_sub(left.len())).await?);
    }
    Ok(left)
}

async fn lanes_of(
    link: &mut Link,
    pass: &Reconcile,
    dead: &SeenBeat,
    most: usize,
) -> Result<Vec<Left>, Trouble> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let (resume, kinds) = (resume_name(pass.resume), resumable_kinds());
    let values: [super::link::Value<'_>; 5] =
        [&&*dead.worker, &dead.beats.cast_signed(), &most, &kinds, &resume];
    let rows = link.query(&RECONCILE, &values).await?;
    let left = rows.iter().map(left).collect::<Result<_, _>>();
    left.map_err(|error| sort(link.place(), &error))
}

fn resume_name(resume: Resume) -> &'static str {
    match resume {
        Resume::AsRecorded => "as_recorded",
        Resume::AtOnce => "at_once",
        Resume::Offered => "offered",
    }
}

fn left(row: &Row) -> Result<Left, Error> {
    let timed_out = row.try_get::<_, Option<String>>(1)?.map(RunId::from);
    let resume_available = row.try_get(2)?;
    Ok(Left { lane: LaneId::from(row.try_get::<_, String>(0)?), timed_out, resume_available })
}

fn resumable_kinds() -> Vec<&'static str> {
    let kinds = [
        CheckpointKind::Input,
        CheckpointKind::LlmResponse,
        CheckpointKind::ToolResult,
        CheckpointKind::Compaction,
        CheckpointKind::JournalUpdate,
        CheckpointKind::HumanPause,
        CheckpointKind::Final,
    ];
    kinds.into_iter().filter(|kind| kind.is_resumable()).map(CheckpointKind::as_str).collect()
}

/// A lane that is known keeps what it has; one without a workspace takes the one that is given.
pub(super) async fn introduce(
    link: &mut Link,
    lane: &LaneId,
    whose: &Whose,
) -> Result<(), Trouble> {
    let folder = text::shown(&whose.folder);
    let values: [super::link::Value<'_>; 5] =
        [&lane.as_str(), &&*whose.tenant, &&*whose.agent, &&*whose.affinity, &&*folder];
    link.query(&INTRODUCE, &values).await.map(drop)
}
