//! Claiming, releasing, forking, registering and waking lanes.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{Epoch, LaneId, Seq};
use windlass_runtime::ports::{
    Affinity, INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat, StoreError, WorkerId,
};

use super::connection::{PgConnection, TypedSql};
use super::connection_pool::AttemptState;
use super::error::{PgError, classify_error};
use super::{inbox, rows};
use crate::crash_points;
use crate::validation::rejection;

/// How often a claim is retried of a lane that changes owner at the same time.
const MAX_CLAIM_ATTEMPTS: u32 = 50;

/// Selected together with a lane, lets its transaction commit asynchronously: it is acknowledged
/// before it is on the disk. A claim has nothing to lose: the first append with it flushes
/// everything before, and until then nothing is done with the lane. A claim that is lost in a crash
/// is rejected by the fence (`decisions/0014-postgres-asynchronous-claims.md`).
const ASYNC_COMMIT: &str = "set_config('synchronous_commit', 'off', true)";

/// The columns returned for a claimed lane, its messages as two of them.
pub(super) static CLAIM_COLUMNS: LazyLock<String> = LazyLock::new(|| {
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

pub(super) async fn claim_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
    worker: &WorkerId,
    dead: Option<&ObservedHeartbeat>,
    attempt: AttemptState,
) -> Result<LaneClaim, PgError> {
    let (who, heartbeats) = dead.map_or((None, 0), |dead| (Some(&*dead.worker), dead.heartbeats));
    let mut seen = None;
    for _ in 0..MAX_CLAIM_ATTEMPTS {
        // A claim whose reply was lost may have landed: then this worker is the owner.
        let ours = attempt == AttemptState::MayHaveLanded;
        let values: [super::connection::SqlValue<'_>; 5] =
            [&lane.as_str(), &&**worker, &who, &heartbeats.cast_signed(), &ours];
        if let Some(row) = connection.query(&CLAIM_LANE, &values).await?.first() {
            return parse_claim(connection, row).map(|(_, claim)| claim);
        }
        seen = read_owner(connection, lane).await?;
        if seen.is_some() && seen.as_ref() != dead {
            break;
        }
    }
    match seen {
        Some(owner) => Err(PgError::Rejected(StoreError::Busy { lane: lane.clone(), owner })),
        None => Err(PgError::Retry(StoreError::Broken {
            location: connection.location().to_owned(),
            reason: format!(
                "lane {lane} changed owner {MAX_CLAIM_ATTEMPTS} times during the claim"
            ),
        })),
    }
}

pub(super) fn parse_claim(
    connection: &PgConnection,
    row: &Row,
) -> Result<(LaneId, LaneClaim), PgError> {
    let classify = |error: Error| classify_error(connection.location(), &error);
    let (lane, claim) = parse_claim_without_messages(row).map_err(classify)?;
    let ids = row.try_get::<_, Vec<i64>>(6).map_err(classify)?;
    let bodies = row.try_get::<_, Vec<&[u8]>>(7).map_err(classify)?;
    let messages =
        ids.into_iter().zip(bodies).map(|(id, body)| inbox::decode_message(connection, id, body));
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
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<Option<ObservedHeartbeat>, PgError> {
    let rows = connection.query(&READ_OWNER, &[&lane.as_str()]).await?;
    let Some(row) = rows.first() else {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    };
    let classify = |error: Error| classify_error(connection.location(), &error);
    let worker = row.try_get::<_, Option<String>>(0).map_err(classify)?;
    let heartbeats = row.try_get::<_, i64>(1).map_err(classify)?.cast_unsigned();
    Ok(worker.map(|worker| ObservedHeartbeat { worker: WorkerId::from(worker), heartbeats }))
}

/// Releases a lane and returns whether it should be driven again at once.
pub(super) async fn release_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
    worker: &WorkerId,
    epoch: Epoch,
) -> Result<bool, PgError> {
    let rows = connection
        .query(&RELEASE_LANE, &[&lane.as_str(), &epoch.cast_signed(), &&**worker])
        .await?;
    Ok(rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)))
}

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
    connection: &mut PgConnection,
    parent: &LaneId,
    at: Seq,
    child: &LaneId,
) -> Result<(), PgError> {
    let (no, head) = find_lane_head(connection, parent).await?;
    if at > head {
        return Err(PgError::Rejected(rejection::fork_beyond_head(parent, at, head)));
    }
    let values: [super::connection::SqlValue<'_>; 3] = [&child.as_str(), &no, &at.cast_signed()];
    let is_made = !connection.query(&INSERT_FORK, &values).await?.is_empty();
    // Repeating a fork after its reply was lost is harmless.
    if is_made || !connection.query(&FIND_FORK_ORIGIN, &values).await?.is_empty() {
        return Ok(());
    }
    Err(PgError::Rejected(rejection::fork_exists(child)))
}

async fn find_lane_head(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<(i64, Seq), PgError> {
    let rows = connection.query(&FIND_LANE_HEAD, &[&lane.as_str()]).await?;
    let row = rows.first();
    let row =
        row.ok_or_else(|| PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))?;
    let read = || Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.cast_unsigned()));
    read().map_err(|error: Error| classify_error(connection.location(), &error))
}

static REGISTER_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO lane (id, tenant, agent, affinity, folder)
         VALUES ($1, coalesce(nullif($2, ''), 'default'), $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET affinity = excluded.affinity, folder = excluded.folder
         WHERE lane.affinity = '' AND excluded.affinity <> ''";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT])
});

static WAKE_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "UPDATE lane SET wake_at = 0 WHERE id = $1 AND active_run IS NOT NULL RETURNING no";
    TypedSql::new(text, &[Type::TEXT])
});

/// Makes an unfinished run due at once.
pub(super) async fn wake_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<bool, PgError> {
    Ok(!connection.query(&WAKE_LANE, &[&lane.as_str()]).await?.is_empty())
}

/// Registers a lane. A known lane keeps its affinity; one without a workspace takes the given one.
pub(super) async fn register_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
    affinity: &Affinity,
) -> Result<(), PgError> {
    let folder = rows::replace_nul(&affinity.folder);
    let values: [super::connection::SqlValue<'_>; 5] =
        [&lane.as_str(), &&*affinity.tenant, &&*affinity.agent, &&*affinity.workspace, &&*folder];
    connection.query(&REGISTER_LANE, &values).await.map(drop)
}
