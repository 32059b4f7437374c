//! Settling what dead owners left, and saying whose a lane is.

use rusqlite::{Connection, Row, params};
use windlass_core::ids::{LaneId, RunId};
use windlass_core::settings::ResumePolicy;
use windlass_runtime::ports::{Left, Reconcile, SeenBeat, Whose};

use super::error::Stop;
use super::step::sql;
use crate::names;

/// A lane as its dead owner left it.
struct Found {
    no: i64,
    lane: LaneId,
    /// The run that was at work, and its last checkpoint.
    at_work: Option<(RunId, Option<String>)>,
    /// What that run says of being resumed.
    policy: ResumePolicy,
}

pub(super) fn reconcile(connection: &Connection, pass: &Reconcile) -> Result<Vec<Left>, Stop> {
    let mut left = Vec::new();
    for dead in &pass.dead {
        for found in lanes_of(connection, dead, pass.most.saturating_sub(left.len()))? {
            left.push(settle(connection, found, pass)?);
        }
    }
    Ok(left)
}

/// The lanes of an owner that still shows the very beat it was seen with.
fn lanes_of(connection: &Connection, dead: &SeenBeat, most: usize) -> Result<Vec<Found>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT lane.no, lane.id, run.run_id,
             (SELECT checkpoint FROM entry WHERE lane_no = lane.no AND run_no = run.no
                  AND checkpoint IS NOT NULL ORDER BY seq DESC LIMIT 1),
             run.resume_policy
         FROM lane LEFT JOIN run
             ON run.lane_no = lane.no AND run.active = 1 AND run.state = 'running'
         WHERE lane.owner = ?1
           AND ?2 = coalesce((SELECT beats FROM worker WHERE worker_id = ?1), 0)
         ORDER BY lane.no LIMIT ?3",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let found =
        statement.query_map(params![&*dead.worker, dead.beats.cast_signed(), most], found)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let kind: Option<String> = row.get(3)?;
    let run = row.get::<_, Option<String>>(2)?.map(RunId::from);
    let lane = LaneId::from(row.get::<_, String>(1)?);
    let policy = row.get::<_, Option<String>>(4)?;
    let policy = policy.map(|name| ResumePolicy::from_name(&name)).unwrap_or_default();
    Ok(Found { no: row.get(0)?, lane, at_work: run.map(|run| (run, kind)), policy })
}

fn settle(connection: &Connection, found: Found, pass: &Reconcile) -> Result<Left, Stop> {
    let Found { no, lane, at_work, policy } = found;
    let resume_available =
        at_work.as_ref().and_then(|(_, kind)| kind.as_deref()).is_some_and(names::is_resumable);
    // A run that cannot go on by itself waits for a person, whatever the policy is.
    let stays = at_work.is_some() && (pass.resume.is_offered(policy) || !resume_available);
    sql(
        connection,
        "UPDATE lane SET owner = NULL, epoch = epoch + 1, wake_at = iif(?2, NULL, wake_at)
         WHERE no = ?1",
    )?
    .execute(params![no, stays])?;
    let Some((run, _)) = at_work else {
        return Ok(Left { lane, timed_out: None, resume_available: false });
    };
    sql(connection, "UPDATE run SET state = 'timed_out', resume_available = ?2 WHERE run_id = ?1")?
        .execute(params![run.as_str(), resume_available])?;
    Ok(Left { lane, timed_out: Some(run), resume_available })
}

/// A lane that is known keeps what it has; one without a workspace takes the one that is given.
pub(super) fn introduce(connection: &Connection, lane: &LaneId, whose: &Whose) -> Result<(), Stop> {
    let tenant = if whose.tenant.is_empty() { "default" } else { &whose.tenant };
    let made = sql(
        connection,
        "INSERT INTO lane (id, tenant, agent, affinity, folder) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![
        lane.as_str(),
        tenant,
        &*whose.agent,
        &*whose.affinity,
        &*whose.folder
    ])?;
    if made == 0 && !whose.affinity.is_empty() {
        sql(
            connection,
            "UPDATE lane SET affinity = ?2, folder = ?3 WHERE id = ?1 AND affinity = ''",
        )?
        .execute(params![lane.as_str(), &*whose.affinity, &*whose.folder])?;
    }
    Ok(())
}

/// Makes an unfinished run due at once.
pub(super) fn wake(connection: &Connection, lane: &LaneId) -> Result<bool, Stop> {
    let woken =
        sql(connection, "UPDATE lane SET wake_at = 0 WHERE id = ?1 AND active_run IS NOT NULL")?
            .execute(params![lane.as_str()])?;
    Ok(woken == 1)
}
