//! Reconciles lanes of dead owners; registers lanes.

use rusqlite::{Connection, Row, params};
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_runtime::ports::{AbandonedLane, Affinity, ObservedHeartbeat, ReconcileRequest};

use super::error::WorkError;
use super::write_work::prepare_cached;
use crate::column_values;

/// A lane of a dead owner.
struct DeadOwnerLane {
    no: i64,
    lane: LaneId,
    /// The run that was running, and its last checkpoint.
    interrupted_run: Option<(RunId, Option<String>)>,
    /// The resume policy of that run.
    policy: ResumePolicy,
}

pub(super) fn reconcile_dead_owners(
    connection: &Connection,
    pass: &ReconcileRequest,
) -> Result<Vec<AbandonedLane>, WorkError> {
    let mut left = Vec::new();
    for dead in &pass.dead {
        for found in lanes_of_dead_owner(connection, dead, pass.limit.saturating_sub(left.len()))? {
            left.push(release_dead_lane(connection, found, pass)?);
        }
    }
    Ok(left)
}

/// Returns the lanes of an owner that still has the heartbeat count it was observed with.
fn lanes_of_dead_owner(
    connection: &Connection,
    dead: &ObservedHeartbeat,
    most: usize,
) -> Result<Vec<DeadOwnerLane>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT lane.no, lane.id, run.run_id,
             (SELECT checkpoint FROM entry WHERE lane_no = lane.no AND run_no = run.no
                  AND checkpoint IS NOT NULL ORDER BY seq DESC LIMIT 1),
             run.resume_policy
         FROM lane LEFT JOIN run
             ON run.lane_no = lane.no AND run.active = 1 AND run.state = 'running'
         WHERE lane.owner = ?1
           AND ?2 = coalesce((SELECT heartbeats FROM worker WHERE worker_id = ?1), 0)
         ORDER BY lane.no LIMIT ?3",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let found = statement.query_map(
        params![&*dead.worker, dead.heartbeats.cast_signed(), most],
        parse_dead_owner_lane,
    )?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn parse_dead_owner_lane(row: &Row<'_>) -> rusqlite::Result<DeadOwnerLane> {
    let kind: Option<String> = row.get(3)?;
    let run = row.get::<_, Option<String>>(2)?.map(RunId::from);
    let lane = LaneId::from(row.get::<_, String>(1)?);
    let policy = row.get::<_, Option<String>>(4)?;
    let policy = policy.map(|name| ResumePolicy::from_name(&name)).unwrap_or_default();
    Ok(DeadOwnerLane { no: row.get(0)?, lane, interrupted_run: run.map(|run| (run, kind)), policy })
}

fn release_dead_lane(
    connection: &Connection,
    found: DeadOwnerLane,
    pass: &ReconcileRequest,
) -> Result<AbandonedLane, WorkError> {
    let DeadOwnerLane { no, lane, interrupted_run, policy } = found;
    let resume_available = interrupted_run
        .as_ref()
        .and_then(|(_, kind)| kind.as_deref())
        .is_some_and(column_values::is_resumable_checkpoint);
    // A run that cannot be resumed automatically waits for a human, whatever the policy is.
    let stays = interrupted_run.is_some() && (pass.resume.is_offered(policy) || !resume_available);
    prepare_cached(
        connection,
        "UPDATE lane SET owner = NULL, epoch = epoch + 1, wake_at = iif(?2, NULL, wake_at)
         WHERE no = ?1",
    )?
    .execute(params![no, stays])?;
    let Some((run, _)) = interrupted_run else {
        return Ok(AbandonedLane { lane, timed_out: None, resume_available: false });
    };
    prepare_cached(
        connection,
        "UPDATE run SET state = 'timed_out', resume_available = ?2 WHERE run_id = ?1",
    )?
    .execute(params![run.as_str(), resume_available])?;
    Ok(AbandonedLane { lane, timed_out: Some(run), resume_available })
}

/// Registers a lane. A known lane keeps its affinity; one without a workspace takes the given one.
pub(super) fn register_lane(
    connection: &Connection,
    lane: &LaneId,
    whose: &Affinity,
) -> Result<(), WorkError> {
    let tenant = if whose.tenant.is_empty() { "default" } else { &whose.tenant };
    let made = prepare_cached(
        connection,
        "INSERT INTO lane (id, tenant, agent, affinity, folder) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![
        lane.as_str(),
        tenant,
        &*whose.agent,
        &*whose.workspace,
        &*whose.folder
    ])?;
    if made == 0 && !whose.workspace.is_empty() {
        prepare_cached(
            connection,
            "UPDATE lane SET affinity = ?2, folder = ?3 WHERE id = ?1 AND affinity = ''",
        )?
        .execute(params![lane.as_str(), &*whose.workspace, &*whose.folder])?;
    }
    Ok(())
}

/// Makes an unfinished run due at once.
pub(super) fn wake_lane(connection: &Connection, lane: &LaneId) -> Result<bool, WorkError> {
    let woken = prepare_cached(
        connection,
        "UPDATE lane SET wake_at = 0 WHERE id = ?1 AND active_run IS NOT NULL",
    )?
    .execute(params![lane.as_str()])?;
    Ok(woken == 1)
}
