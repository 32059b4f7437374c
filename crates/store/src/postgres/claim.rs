//! Taking lanes, giving them back, and being alive.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::{Epoch, LaneId};
use windlass_runtime::ports::{Claim, Look, MAIL_PAGE, SeenBeat, StoreError, WorkerId, WorkerInfo};

use super::link::{Link, Sql};
use super::mail;
use super::pool::Doubt;
use super::trouble::{Trouble, sort};
use crate::fault;

/// How often a lane is looked at that changes while it is looked at.
const LOOKS: u32 = 50;

/// Asked for with a lane, lets its transaction be answered before it is on the disk. A claim has
/// nothing to lose: the first append with it flushes everything before, and before that nothing is
/// done with the lane. One that a crash forgets is refused by the fence
/// (`decisions/0014-claims-wait-for-no-disk.md`).
const UNFLUSHED: &str = "set_config('synchronous_commit', 'off', true)";

/// What is told of a lane that was taken, its mail as two columns.
static TAKEN: LazyLock<String> = LazyLock::new(|| {
    let waiting = |column: &str| {
        format!(
            "ARRAY(SELECT mail.{column} FROM mail
                 WHERE mail.lane_no = lane.no AND mail.read_seq IS NULL
                 ORDER BY mail.mail_id LIMIT {MAIL_PAGE})"
        )
    };
    format!(
        "lane.epoch, lane.head, (SELECT p.id FROM lane p WHERE p.no = lane.parent), lane.parent_at,
         lane.tenant, lane.id, {}, {}, lane.affinity, {UNFLUSHED}",
        waiting("mail_id"),
        waiting("body"),
    )
});

/// An owner that is named as dead must still show the very beat it was seen with. No clock is
/// compared: the caller has watched it stand still on a clock of its own.
static CLAIM: LazyLock<Sql> = LazyLock::new(|| {
    // What the torture harness must notice: a lane taken from an owner that lives.
    let anyway = if fault::lease_is_broken() { "true" } else { "false" };
    let text = format!(
        "UPDATE lane SET epoch = epoch + 1, owner = $2
         WHERE id = $1 AND (owner IS NULL OR {anyway} OR ($5 AND owner = $2) OR (owner = $3
             AND $4 = coalesce((SELECT beats FROM worker WHERE worker_id = $3), 0)))
         RETURNING {}",
        *TAKEN
    );
    Sql::new(&text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::BOOL])
});

static OWNER: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT lane.owner, coalesce(worker.beats, 0) FROM lane
         LEFT JOIN worker ON worker.worker_id = lane.owner WHERE lane.id = $1";
    Sql::new(text, &[Type::TEXT])
});

/// Says whether the lane wants to be driven at once: it has mail, or something was in the air.
static RELEASE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "UPDATE lane SET owner = NULL WHERE id = $1 AND epoch = $2 AND owner = $3
         RETURNING coalesce(wake_at = 0, false) OR EXISTS (
             SELECT 1 FROM mail WHERE mail.lane_no = lane.no AND mail.read_seq IS NULL)";
    Sql::new(text, &[Type::TEXT, Type::INT8, Type::TEXT])
});

static BEAT: LazyLock<Sql> = LazyLock::new(|| {
    let text = "INSERT INTO worker (worker_id, beats, pid) VALUES ($1, 1, $2)
         ON CONFLICT (worker_id) DO UPDATE SET beats = worker.beats + 1, beat_at = now()";
    Sql::new(text, &[Type::TEXT, Type::INT8])
});

/// Finds and takes in one round trip: one lane of each tenant, then another of each. Lanes that
/// somebody else is claiming at this moment are passed over, not waited for.
pub(super) static CLAIM_WANTING: LazyLock<Sql> = LazyLock::new(|| {
    let text = format!(
        "WITH wants (no) AS (
            SELECT lane_no FROM mail WHERE read_seq IS NULL
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
        *TAKEN
    );
    let names = Type::TEXT_ARRAY;
    let reach = [names.clone(), names.clone(), names];
    Sql::new(&text, &[[Type::TEXT, Type::INT8, Type::INT8].as_slice(), &reach].concat())
});

static ANNOUNCE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "UPDATE worker SET workspaces = $2 WHERE worker_id = $1";
    Sql::new(text, &[Type::TEXT, Type::TEXT])
});

/// Those that beat within the last minutes: rows of processes that ended stay in the table.
static WORKERS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT worker_id,
             greatest(0, extract(epoch FROM clock_timestamp() - beat_at) * 1000)::bigint, workspaces
         FROM worker WHERE workspaces IS NOT NULL AND beat_at > now() - INTERVAL '5 minutes'
         ORDER BY worker_id";
    Sql::new(text, &[])
});

pub(super) async fn announce(
    link: &mut Link,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), Trouble> {
    link.query(&ANNOUNCE, &[&&**worker, &workspaces]).await.map(drop)
}

pub(super) async fn workers(link: &mut Link) -> Result<Vec<WorkerInfo>, Trouble> {
    let rows = link.query(&WORKERS, &[]).await?;
    let workers = rows.iter().map(worker_info).collect::<Result<_, _>>();
    workers.map_err(|error| sort(link.place(), &error))
}

fn worker_info(row: &Row) -> Result<WorkerInfo, Error> {
    Ok(WorkerInfo {
        worker: row.try_get::<_, &str>(0)?.into(),
        silent_ms: row.try_get::<_, i64>(1)?.cast_unsigned(),
        workspaces: serde_json::from_str(row.try_get::<_, &str>(2)?).unwrap_or_default(),
    })
}

pub(super) async fn claim(
    link: &mut Link,
    lane: &LaneId,
    worker: &WorkerId,
    dead: Option<&SeenBeat>,
    doubt: Doubt,
) -> Result<Claim, Trouble> {
    let (who, beats) = dead.map_or((None, 0), |dead| (Some(&*dead.worker), dead.beats));
    let mut seen = None;
    for _ in 0..LOOKS {
        // A claim whose answer was lost may have landed: then the owner is us.
        let ours = doubt == Doubt::Yes;
        let values: [super::link::Value<'_>; 5] =
            [&lane.as_str(), &&**worker, &who, &beats.cast_signed(), &ours];
        if let Some(row) = link.query(&CLAIM, &values).await?.first() {
            return taken(link, row).map(|(_, claim)| claim);
        }
        seen = owner(link, lane).await?;
        if seen.is_some() && seen.as_ref() != dead {
            break;
        }
    }
    match seen {
        Some(owner) => Err(Trouble::Refused(StoreError::Busy { lane: lane.clone(), owner })),
        None => Err(Trouble::Again(StoreError::Broken {
            place: link.place().to_owned(),
            reason: format!("lane {lane} changed its owner {LOOKS} times while it was claimed"),
        })),
    }
}

fn taken(link: &Link, row: &Row) -> Result<(LaneId, Claim), Trouble> {
    let told = |error: Error| sort(link.place(), &error);
    let (lane, claim) = without_mail(row).map_err(told)?;
    let ids = row.try_get::<_, Vec<i64>>(6).map_err(told)?;
    let bodies = row.try_get::<_, Vec<&[u8]>>(7).map_err(told)?;
    let mail = ids.into_iter().zip(bodies).map(|(id, body)| mail::read(link, id, body));
    // Mail that cannot be read concerns its own lane, not all that are claimed together.
    Ok((lane, Claim { mail: mail.collect::<Result<_, _>>().ok(), ..claim }))
}

fn without_mail(row: &Row) -> Result<(LaneId, Claim), Error> {
    let parent = row.try_get::<_, Option<String>>(2)?.map(LaneId::from);
    let parent_at = row.try_get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
    let claim = Claim {
        epoch: row.try_get::<_, i64>(0)?.cast_unsigned(),
        head: row.try_get::<_, i64>(1)?.cast_unsigned(),
        fork_of: parent.zip(parent_at),
        tenant: row.try_get::<_, &str>(4)?.into(),
        affinity: row.try_get::<_, &str>(8)?.into(),
        mail: None,
    };
    Ok((LaneId::from(row.try_get::<_, String>(5)?), claim))
}

async fn owner(link: &mut Link, lane: &LaneId) -> Result<Option<SeenBeat>, Trouble> {
    let rows = link.query(&OWNER, &[&lane.as_str()]).await?;
    let Some(row) = rows.first() else {
        return Err(Trouble::Refused(StoreError::NoLane { lane: lane.clone() }));
    };
    let told = |error: Error| sort(link.place(), &error);
    let worker = row.try_get::<_, Option<String>>(0).map_err(told)?;
    let beats = row.try_get::<_, i64>(1).map_err(told)?.cast_unsigned();
    Ok(worker.map(|worker| SeenBeat { worker: WorkerId::from(worker), beats }))
}

/// Takes lanes that want to be driven. Whether an earlier try took any cannot be told from here: the
/// caller knows which of its lanes it drives.
pub(super) async fn claim_wanting(
    link: &mut Link,
    worker: &WorkerId,
    look: &Look,
    doubt: Doubt,
) -> Result<Vec<(LaneId, Claim)>, Trouble> {
    if doubt == Doubt::Yes {
        let reason = "the connection was lost while lanes were claimed".to_owned();
        let place = link.place().to_owned();
        return Err(Trouble::Refused(StoreError::Unreachable { place, reason }));
    }
    let most = i64::try_from(look.most).unwrap_or(i64::MAX);
    let now = i64::try_from(look.now.0).unwrap_or(i64::MAX);
    let agents: Vec<&str> = look.reach.agents.iter().map(|agent| &**agent).collect();
    let affinities: Vec<&str> = look.reach.affinities.iter().map(|place| &**place).collect();
    let except: Vec<&str> = look.except.iter().map(LaneId::as_str).collect();
    let values: [super::link::Value<'_>; 6] =
        [&&**worker, &now, &most, &agents, &affinities, &except];
    let rows = link.query(&CLAIM_WANTING, &values).await?;
    rows.iter().map(|row| taken(link, row)).collect()
}

/// Gives back whether somebody else is to go on with the lane at once.
pub(super) async fn release(
    link: &mut Link,
    lane: &LaneId,
    worker: &WorkerId,
    epoch: Epoch,
) -> Result<bool, Trouble> {
    let rows = link.query(&RELEASE, &[&lane.as_str(), &epoch.cast_signed(), &&**worker]).await?;
    Ok(rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)))
}

pub(super) async fn beat(link: &mut Link, worker: &WorkerId) -> Result<(), Trouble> {
    link.query(&BEAT, &[&&**worker, &i64::from(std::process::id())]).await.map(drop)
}
