//! Reading lanes. A fork's log is its ancestors' entries up to where it left them, then its own.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::{LaneId, Millis, RunId, Seq};
use windlass_core::project::{RawRow, RunDescription};
use windlass_core::raw::Raw;
use windlass_core::settings::ResumePolicy;
use windlass_runtime::ports::{
    EncodedEntry, LaneInfo, RunInfo, StoreError, TraceEnd, Whose, WorkerId,
};

use super::link::{Link, Sql};
use super::mail;
use super::trouble::{Trouble, sort};
use crate::{names, pending};

static LANE: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT epoch, head, owner, active_run, wake_at, tenant, agent, affinity, folder
         FROM lane WHERE id = $1";
    Sql::new(text, &[Type::TEXT])
});

/// The lane and its ancestors; it ends where everything older lies before what is asked for.
static ANCESTRY: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE line (no, upto, parent, parent_at) AS (
            SELECT no, 9223372036854775807, parent, parent_at FROM lane WHERE id = $1
            UNION ALL
            SELECT p.no, least(line.upto, line.parent_at), p.parent, p.parent_at
            FROM line JOIN lane p ON p.no = line.parent WHERE line.parent_at > $2)
        SELECT no, upto FROM line ORDER BY upto";
    Sql::new(text, &[Type::TEXT, Type::INT8])
});

static ENTRIES: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT seq, at, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4";
    Sql::new(text, &[Type::INT8, Type::INT8, Type::INT8, Type::INT8])
});

static RUNS: LazyLock<Sql> = LazyLock::new(|| {
    let text =
        "SELECT run_id, lane.id, state, cause, text, at, resume_available, prompt, run.folder,
             run.agent, profile, model, usd_micros, cancel_requested, resume_policy
         FROM run
         JOIN lane ON lane.no = run.lane_no ORDER BY run.no DESC LIMIT $1";
    Sql::new(text, &[Type::INT8])
});

static RUNS_OF: LazyLock<Sql> = LazyLock::new(|| {
    let text =
        "SELECT run_id, lane.id, state, cause, text, at, resume_available, prompt, run.folder,
             run.agent, profile, model, usd_micros, cancel_requested, resume_policy
         FROM run
         JOIN lane ON lane.no = run.lane_no WHERE lane.id = $2 ORDER BY run.no DESC LIMIT $1";
    Sql::new(text, &[Type::INT8, Type::TEXT])
});

static TRACE_ENDS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT run_id, iter, cause, at, agent, profile, model FROM run
         JOIN agent_loop_trace AS last
           ON last.id = (SELECT max(id) FROM agent_loop_trace WHERE job_id = run.run_id::uuid)
         WHERE cause IS NOT NULL AND at >= $1 ORDER BY run.no DESC LIMIT $2";
    Sql::new(text, &[Type::INT8, Type::INT8])
});

/// Newest first.
pub(super) async fn trace_ends(
    link: &mut Link,
    since: Millis,
    most: usize,
) -> Result<Vec<TraceEnd>, Trouble> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let since = i64::try_from(since.0).unwrap_or(i64::MAX);
    let rows = link.query(&TRACE_ENDS, &[&since, &most]).await?;
    let ends = rows.iter().map(trace_end).collect::<Result<_, _>>();
    ends.map_err(|error| sort(link.place(), &error))
}

fn trace_end(row: &Row) -> Result<TraceEnd, Error> {
    Ok(TraceEnd {
        run: RunId::from(row.try_get::<_, String>(0)?),
        iter: u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default(),
        cause: Arc::from(row.try_get::<_, String>(2)?),
        at: Millis(row.try_get::<_, i64>(3)?.cast_unsigned()),
        agent: row.try_get::<_, Option<String>>(4)?.map(Arc::from),
        profile: row.try_get::<_, Option<String>>(5)?.map(Arc::from),
        model: row.try_get::<_, Option<String>>(6)?.map(Arc::from),
    })
}

static RAW_RESPONSES: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT run_id, seq, at, body FROM raw_response
         WHERE lane_no = (SELECT no FROM lane WHERE id = $1) AND seq > $2 ORDER BY seq LIMIT $3";
    Sql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

/// Oldest first.
pub(super) async fn raw_responses(
    link: &mut Link,
    lane: &LaneId,
    after: Seq,
    most: usize,
) -> Result<Vec<RawRow>, Trouble> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = link.query(&RAW_RESPONSES, &[&lane.as_str(), &after, &most]).await?;
    let found = rows.iter().map(raw_response).collect::<Result<_, _>>();
    found.map_err(|error| sort(link.place(), &error))
}

fn raw_response(row: &Row) -> Result<RawRow, Error> {
    let body: String = row.try_get(3)?;
    Ok(RawRow {
        run: row.try_get::<_, Option<String>>(0)?.map(RunId::from),
        seq: row.try_get::<_, i64>(1)?.cast_unsigned(),
        at: Millis(row.try_get::<_, i64>(2)?.cast_unsigned()),
        // What is damaged is shown as it stands.
        body: Raw::parse(body.as_str()).unwrap_or_else(|_| Raw::string(&body)),
    })
}

pub(super) async fn lane(link: &mut Link, lane: &LaneId) -> Result<Option<LaneInfo>, Trouble> {
    let rows = link.query(&LANE, &[&lane.as_str()]).await?;
    let info = rows.first().map(|row| info(lane, row)).transpose();
    info.map_err(|error| sort(link.place(), &error))
}

fn info(lane: &LaneId, row: &Row) -> Result<LaneInfo, Error> {
    Ok(LaneInfo {
        lane: lane.clone(),
        epoch: row.try_get::<_, i64>(0)?.cast_unsigned(),
        head: row.try_get::<_, i64>(1)?.cast_unsigned(),
        owner: row.try_get::<_, Option<String>>(2)?.map(WorkerId::from),
        active_run: row.try_get::<_, Option<String>>(3)?.map(RunId::from),
        wake_at: row.try_get::<_, Option<i64>>(4)?.map(|at| Millis(at.cast_unsigned())),
        whose: Whose {
            tenant: row.try_get::<_, &str>(5)?.into(),
            agent: row.try_get::<_, &str>(6)?.into(),
            affinity: row.try_get::<_, &str>(7)?.into(),
            folder: row.try_get::<_, &str>(8)?.into(),
        },
    })
}

pub(super) async fn log(
    link: &mut Link,
    lane: &LaneId,
    after: Seq,
    most: usize,
) -> Result<Vec<EncodedEntry>, Trouble> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let stretches = link.query(&ANCESTRY, &[&lane.as_str(), &after]).await?;
    if stretches.is_empty() {
        return Err(Trouble::Refused(StoreError::NoLane { lane: lane.clone() }));
    }
    let mut found = Vec::new();
    for stretch in &stretches {
        let number = |column| stretch.try_get::<_, i64>(column);
        let (no, upto) = (number(0), number(1));
        let no = no.map_err(|error| sort(link.place(), &error))?;
        let upto = upto.map_err(|error| sort(link.place(), &error))?;
        let room = i64::try_from(most.saturating_sub(found.len())).unwrap_or(i64::MAX);
        for row in link.query(&ENTRIES, &[&no, &after, &upto, &room]).await? {
            found.push(entry(link, &row)?);
        }
    }
    Ok(found)
}

fn entry(link: &Link, row: &Row) -> Result<EncodedEntry, Trouble> {
    let told = |error: Error| sort(link.place(), &error);
    let bytes = row.try_get::<_, &[u8]>(2).map_err(told)?;
    let line = std::str::from_utf8(bytes).map_err(|error| {
        let (place, reason) = (link.place().to_owned(), error.to_string());
        Trouble::Refused(StoreError::Corrupt { place, reason })
    })?;
    Ok(EncodedEntry {
        seq: row.try_get::<_, i64>(0).map_err(told)?.cast_unsigned(),
        at: Millis(row.try_get::<_, i64>(1).map_err(told)?.cast_unsigned()),
        line: Arc::from(line),
    })
}

/// Newest first.
pub(super) async fn runs(
    link: &mut Link,
    lane: Option<&LaneId>,
    most: usize,
) -> Result<Vec<RunInfo>, Trouble> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    // Asked for first: a prompt that is read meanwhile then has a row, and counts once.
    let pending = mail::pending(link, lane, limit).await?;
    let rows = match lane {
        None => link.query(&RUNS, &[&limit]).await?,
        Some(lane) => link.query(&RUNS_OF, &[&limit, &lane.as_str()]).await?,
    };
    let runs = rows.iter().map(|row| run_info(link, row)).collect::<Result<_, _>>()?;
    Ok(pending::merge(runs, pending, most))
}

fn run_info(link: &Link, row: &Row) -> Result<RunInfo, Trouble> {
    let text = |column| row.try_get::<_, Option<String>>(column);
    let told = |error: Error| sort(link.place(), &error);
    let state = text(2).map_err(told)?.unwrap_or_default();
    let cause = text(3).map_err(told)?;
    Ok(RunInfo {
        run: RunId::from(text(0).map_err(told)?.unwrap_or_default()),
        lane: LaneId::from(text(1).map_err(told)?.unwrap_or_default()),
        state: names::parse_state(&state).ok_or_else(|| unknown(link, &state))?,
        cause: cause
            .map(|name| names::parse_cause(&name).ok_or_else(|| unknown(link, &name)))
            .transpose()?,
        text: text(4).map_err(told)?.map(Arc::from),
        at: Millis(row.try_get::<_, i64>(5).map_err(told)?.cast_unsigned()),
        resume_available: row.try_get(6).map_err(told)?,
        cancel_requested: row.try_get(13).map_err(told)?,
        description: RunDescription {
            prompt: text(7).map_err(told)?.map(Arc::from),
            folder: text(8).map_err(told)?.map(Arc::from),
            agent: text(9).map_err(told)?.map(Arc::from),
            profile: text(10).map_err(told)?.map(Arc::from),
            model: text(11).map_err(told)?.map(Arc::from),
            resume: text(14).map_err(told)?.map(|name| ResumePolicy::from_name(&name)),
        },
        usd_micros: row.try_get::<_, Option<i64>>(12).map_err(told)?.map(i64::cast_unsigned),
    })
}

fn unknown(link: &Link, name: &str) -> Trouble {
    let reason = format!("`{name}` is no state or cause that this version knows");
    Trouble::Refused(StoreError::Corrupt { place: link.place().to_owned(), reason })
}
