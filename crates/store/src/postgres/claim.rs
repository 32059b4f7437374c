//! Claiming and releasing lanes; heartbeats.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{Epoch, LaneId};
use windlass_runtime::ports::{
    ClaimQuery, INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat, StoreError, WorkerId, WorkerInfo,
};

use super::connection::{PgConnection, TypedSql};
use super::connection_pool::AttemptState;
use super::error::{PgError, classify_error};
use super::inbox;
use crate::crash_points;

/// How often a claim is retried of a lane that changes owner at the same time.
const MAX_CLAIM_ATTEMPTS: u32 = 50;

/// Selected together with a lane, lets its transaction commit asynchronously: it is acknowledged
/// before it is on the disk. A claim has nothing to lose: the first append with it flushes
/// everything before, and until then nothing is done with the lane. A claim that is lost in a crash
/// is rejected by the fence (`decisions/0014-postgres-asynchronous-claims.md`).
const ASYNC_COMMIT: &str = "set_config('synchronous_commit', 'off', true)";

/// The columns returned for a claimed lane, its messages as two of them.
static CLAIM_COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let waiting = |column: &str| {
        format!(
            "ARRAY(SELECT inbox.{column} FROM inbox
                 WHERE inbox.lane_no = lane.no AND inbox.read_seq IS NULL
                 ORDER BY inbox.message_id LIMIT {INBOX_PAGE_MESSAGES})"
        )
    };
    format!(
        "lane.epoch, lane.head, (SELECT p.id FROM lane p WHERE p.no = lane.fork_parent),
            lane.fork_seq,
         lane.tenant, lane.id, {}, {}, lane.affinity, {ASYNC_COMMIT}",
        waiting("message_id"),
        waiting("body"),
    )
});

/// Claims a lane. An owner that is named as dead must still have the heartbeat count it was
/// observed with. No clocks are compared: the caller has watched the count stand still on its own
/// clock.
static CLAIM_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    // The torture harness must detect this: a lane claimed from a live owner.
    let anyway = if crash_points::is_lease_disabled() { "true" } else { "false" };
    let text = format!(
        "UPDATE lane SET epoch = epoch + 1, owner = $2
         WHERE id = $1 AND (owner IS NULL OR {anyway} OR ($5 AND owner = $2) OR (owner = $3
             AND $4 = coalesce((SELECT heartbeats FROM worker WHERE worker_id = $3), 0)))
         RETURNING {}",
        *CLAIM_COLUMNS
    );
    TypedSql::new(&text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::BOOL])
});

static READ_OWNER: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT lane.owner, coalesce(worker.heartbeats, 0) FROM lane
         LEFT JOIN worker ON worker.worker_id = lane.owner WHERE lane.id = $1";
    TypedSql::new(text, &[Type::TEXT])
});

/// Releases a lane and returns whether it is runnable at once: it has messages, or effects were in
/// flight.
static RELEASE_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE lane SET owner = NULL WHERE id = $1 AND epoch = $2 AND owner = $3
         RETURNING coalesce(wake_at = 0, false) OR EXISTS (
             SELECT 1 FROM inbox WHERE inbox.lane_no = lane.no AND inbox.read_seq IS NULL)";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::TEXT])
});

static RECORD_HEARTBEAT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO worker (worker_id, heartbeats, pid) VALUES ($1, 1, $2)
         ON CONFLICT (worker_id) DO UPDATE SET
             heartbeats = worker.heartbeats + 1, heartbeat_at = now()";
    TypedSql::new(text, &[Type::TEXT, Type::INT8])
});

/// Finds and claims runnable lanes in one round trip: one lane of each tenant, then another of
/// each. Lanes that another worker is claiming at the same moment are skipped (`SKIP LOCKED`).
pub(super) static CLAIM_RUNNABLE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = format!(
        "WITH wants (no) AS (
            SELECT lane_no FROM inbox WHERE read_seq IS NULL
            UNION
            SELECT no FROM lane WHERE owner IS NULL AND wake_at <= $2),
        fair AS (
            SELECT lane.no, row_number() OVER (
                PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no) AS turn
            FROM wants JOIN lane ON lane.no = wants.no
            WHERE lane.owner IS NULL
              AND (lane.agent = '' OR lane.agent = ANY($4))
              AND (lane.affinity = '' OR lane.affinity = ANY($5))
              AND lane.id <> ALL($6)),
        chosen AS (
            SELECT lane.no FROM fair JOIN lane ON lane.no = fair.no WHERE lane.owner IS NULL
            ORDER BY fair.turn, lane.no LIMIT $3 FOR UPDATE OF lane SKIP LOCKED)
        UPDATE lane SET epoch = epoch + 1, owner = $1 FROM chosen WHERE lane.no = chosen.no
        RETURNING {}",
        *CLAIM_COLUMNS
    );
    let names = Type::TEXT_ARRAY;
    let reach = [names.clone(), names.clone(), names];
    TypedSql::new(&text, &[[Type::TEXT, Type::INT8, Type::INT8].as_slice(), &reach].concat())
});

static ANNOUNCE_WORKSPACES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE worker SET workspaces = $2 WHERE worker_id = $1";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT])
});

/// Workers with a heartbeat within the last minutes: rows of processes that ended stay in the
/// table.
static RECENT_WORKERS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT worker_id,
             greatest(0, extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000)::bigint,
             workspaces
         FROM worker WHERE workspaces IS NOT NULL AND heartbeat_at > now() - INTERVAL '5 minutes'
         ORDER BY worker_id";
    TypedSql::new(text, &[])
});

pub(super) async fn announce_workspaces(
    link: &mut PgConnection,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), PgError> {
    link.query(&ANNOUNCE_WORKSPACES, &[&&**worker, &workspaces]).await.map(drop)
}

pub(super) async fn recent_workers(link: &mut PgConnection) -> Result<Vec<WorkerInfo>, PgError> {
    let rows = link.query(&RECENT_WORKERS, &[]).await?;
    let workers = rows.iter().map(parse_worker_info).collect::<Result<_, _>>();
    workers.map_err(|error| classify_error(link.location(), &error))
}

fn parse_worker_info(row: &Row) -> Result<WorkerInfo, Error> {
    Ok(WorkerInfo {
        worker: row.try_get::<_, &str>(0)?.into(),
        silent_ms: row.try_get::<_, i64>(1)?.cast_unsigned(),
        workspaces: serde_json::from_str(row.try_get::<_, &str>(2)?).unwrap_or_default(),
    })
}

pub(super) async fn claim_lane(
    link: &mut PgConnection,
    lane: &LaneId,
    worker: &WorkerId,
    dead: Option<&ObservedHeartbeat>,
    doubt: AttemptState,
) -> Result<LaneClaim, PgError> {
    let (who, heartbeats) = dead.map_or((None, 0), |dead| (Some(&*dead.worker), dead.heartbeats));
    let mut seen = None;
    for _ in 0..MAX_CLAIM_ATTEMPTS {
        // A claim whose reply was lost may have landed: then this worker is the owner.
        let ours = doubt == AttemptState::MayHaveLanded;
        let values: [super::connection::SqlValue<'_>; 5] =
            [&lane.as_str(), &&**worker, &who, &heartbeats.cast_signed(), &ours];
        if let Some(row) = link.query(&CLAIM_LANE, &values).await?.first() {
            return parse_claim(link, row).map(|(_, claim)| claim);
        }
        seen = read_owner(link, lane).await?;
        if seen.is_some() && seen.as_ref() != dead {
            break;
        }
    }
    match seen {
        Some(owner) => Err(PgError::Rejected(StoreError::Busy { lane: lane.clone(), owner })),
        None => Err(PgError::Retry(StoreError::Broken {
            location: link.location().to_owned(),
            reason: format!(
                "lane {lane} changed its owner {MAX_CLAIM_ATTEMPTS} times while it was claimed"
            ),
        })),
    }
}

fn parse_claim(link: &PgConnection, row: &Row) -> Result<(LaneId, LaneClaim), PgError> {
    let told = |error: Error| classify_error(link.location(), &error);
    let (lane, claim) = parse_claim_without_messages(row).map_err(told)?;
    let ids = row.try_get::<_, Vec<i64>>(6).map_err(told)?;
    let bodies = row.try_get::<_, Vec<&[u8]>>(7).map_err(told)?;
    let messages =
        ids.into_iter().zip(bodies).map(|(id, body)| inbox::decode_message(link, id, body));
    // A message that cannot be decoded affects its own lane, not all that are claimed together.
    Ok((lane, LaneClaim { messages: messages.collect::<Result<_, _>>().ok(), ..claim }))
}

fn parse_claim_without_messages(row: &Row) -> Result<(LaneId, LaneClaim), Error> {
    let parent = row.try_get::<_, Option<String>>(2)?.map(LaneId::from);
    let fork_seq = row.try_get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
    let claim = LaneClaim {
        epoch: row.try_get::<_, i64>(0)?.cast_unsigned(),
        head: row.try_get::<_, i64>(1)?.cast_unsigned(),
        fork_of: parent.zip(fork_seq),
        tenant: row.try_get::<_, &str>(4)?.into(),
        workspace: row.try_get::<_, &str>(8)?.into(),
        messages: None,
    };
    Ok((LaneId::from(row.try_get::<_, String>(5)?), claim))
}

async fn read_owner(
    link: &mut PgConnection,
    lane: &LaneId,
) -> Result<Option<ObservedHeartbeat>, PgError> {
    let rows = link.query(&READ_OWNER, &[&lane.as_str()]).await?;
    let Some(row) = rows.first() else {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    };
    let told = |error: Error| classify_error(link.location(), &error);
    let worker = row.try_get::<_, Option<String>>(0).map_err(told)?;
    let heartbeats = row.try_get::<_, i64>(1).map_err(told)?.cast_unsigned();
    Ok(worker.map(|worker| ObservedHeartbeat { worker: WorkerId::from(worker), heartbeats }))
}

/// Claims runnable lanes. Whether an earlier attempt claimed any cannot be known here: the caller
/// knows which of its lanes it drives.
pub(super) async fn claim_runnable_lanes(
    link: &mut PgConnection,
    worker: &WorkerId,
    look: &ClaimQuery,
    doubt: AttemptState,
) -> Result<Vec<(LaneId, LaneClaim)>, PgError> {
    if doubt == AttemptState::MayHaveLanded {
        let reason = "the connection was lost while lanes were claimed".to_owned();
        let location = link.location().to_owned();
        return Err(PgError::Rejected(StoreError::Unreachable { location, reason }));
    }
    let most = i64::try_from(look.limit).unwrap_or(i64::MAX);
    let now = i64::try_from(look.now.0).unwrap_or(i64::MAX);
    let agents: Vec<&str> = look.scope.agents.iter().map(|agent| &**agent).collect();
    let affinities: Vec<&str> = look.scope.workspaces.iter().map(|place| &**place).collect();
    let except: Vec<&str> = look.exclude.iter().map(LaneId::as_str).collect();
    let values: [super::connection::SqlValue<'_>; 6] =
        [&&**worker, &now, &most, &agents, &affinities, &except];
    let rows = link.query(&CLAIM_RUNNABLE, &values).await?;
    rows.iter().map(|row| parse_claim(link, row)).collect()
}

/// Releases a lane and returns whether it should be driven again at once.
pub(super) async fn release_lane(
    link: &mut PgConnection,
    lane: &LaneId,
    worker: &WorkerId,
    epoch: Epoch,
) -> Result<bool, PgError> {
    let rows =
        link.query(&RELEASE_LANE, &[&lane.as_str(), &epoch.cast_signed(), &&**worker]).await?;
    Ok(rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)))
}

pub(super) async fn record_heartbeat(
    link: &mut PgConnection,
    worker: &WorkerId,
) -> Result<(), PgError> {
    link.query(&RECORD_HEARTBEAT, &[&&**worker, &i64::from(std::process::id())]).await.map(drop)
}
