//! Accepting mail and reading what waits.

use std::collections::HashSet;
use std::sync::LazyLock;

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use windlass_core::ids::{LaneId, MailId, Millis};
use windlass_core::mail::Mail;
use windlass_runtime::ports::StoreError;

use super::link::{Link, Sql};
use super::prepare::PreparedLetter;
use super::trouble::{Trouble, sort};
use crate::pending::{KINDS, PendingMessage};

/// How often an id is drawn that somebody else is drawing too.
const DRAWS: u32 = 200;

/// Makes the lane if it is new; then it belongs to whom the sender belongs to. The next id is drawn
/// without a lock: of two who draw the same, one inserts nothing and draws again, so senders never
/// wait for the lane's owner. A key that is known inserts nothing either, and then is found.
static DELIVER: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH made AS (
            INSERT INTO lane (id, tenant, agent, affinity, folder)
            SELECT $1, coalesce(s.tenant, 'default'), coalesce(s.agent, ''),
                coalesce(s.affinity, ''), coalesce(s.folder, '')
            FROM (VALUES (1)) AS one (row) LEFT JOIN lane s ON s.id = $5
            WHERE NOT EXISTS (SELECT 1 FROM lane WHERE id = $1)
            ON CONFLICT DO NOTHING RETURNING no),
        sent AS (
            INSERT INTO mail (lane_no, mail_id, client_key, kind, body)
            SELECT place.no, 1 + coalesce(
                (SELECT max(m.mail_id) FROM mail m WHERE m.lane_no = place.no), 0), $2, $3, $4
            FROM (SELECT no FROM lane WHERE id = $1 UNION ALL SELECT no FROM made) AS place
            ON CONFLICT DO NOTHING RETURNING mail_id)
        SELECT mail_id FROM sent
        UNION ALL
        SELECT mail.mail_id FROM lane JOIN mail ON mail.lane_no = lane.no
        WHERE lane.id = $1 AND mail.client_key = $2";
    Sql::new(text, &[Type::TEXT, Type::TEXT, Type::TEXT, Type::BYTEA, Type::TEXT])
});

/// A lane without mail gives one row of nothing; no lane gives no row.
static WAITING: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT mail.mail_id, mail.body FROM lane
         LEFT JOIN mail ON mail.lane_no = lane.no AND mail.read_seq IS NULL
         WHERE lane.id = $1 ORDER BY mail.mail_id LIMIT $2";
    Sql::new(text, &[Type::TEXT, Type::INT8])
});

static PENDING: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT lane.id, mail.body, (extract(epoch FROM mail.at) * 1000)::bigint,
             lane.folder, lane.agent
         FROM mail JOIN lane ON lane.no = mail.lane_no
         WHERE mail.read_seq IS NULL AND mail.kind = ANY($2) AND ($1 IS NULL OR lane.id = $1)
         ORDER BY mail.at DESC, mail.mail_id DESC LIMIT $3";
    Sql::new(text, &[Type::TEXT, Type::TEXT_ARRAY, Type::INT8])
});

/// A key that is known gives the mail it stood for first.
pub(super) async fn deliver(
    link: &mut Link,
    lane: &LaneId,
    letter: &PreparedLetter,
    sender: Option<&LaneId>,
) -> Result<MailId, Trouble> {
    let sender = sender.map(LaneId::as_str);
    for _ in 0..DRAWS {
        let values: [super::link::Value<'_>; 5] =
            [&lane.as_str(), &letter.key, &letter.kind, &letter.body, &sender];
        let rows = link.query(&DELIVER, &values).await?;
        if let Some(row) = rows.first() {
            return id(link, row);
        }
    }
    let reason = format!("somebody else took the next place in lane {lane} {DRAWS} times");
    Err(Trouble::Again(StoreError::Broken { place: link.place().to_owned(), reason }))
}

fn id(link: &Link, row: &Row) -> Result<MailId, Trouble> {
    let id = row.try_get::<_, i64>(0).map_err(|error| sort(link.place(), &error))?;
    Ok(id.cast_unsigned())
}

pub(super) async fn waiting(
    link: &mut Link,
    lane: &LaneId,
    most: usize,
) -> Result<Vec<Mail>, Trouble> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX).max(1);
    let rows = link.query(&WAITING, &[&lane.as_str(), &limit]).await?;
    if rows.is_empty() {
        return Err(Trouble::Refused(StoreError::NoLane { lane: lane.clone() }));
    }
    let mut found = Vec::new();
    for row in rows.iter().take(most) {
        found.extend(mail(link, row)?);
    }
    Ok(found)
}

fn mail(link: &Link, row: &Row) -> Result<Option<Mail>, Trouble> {
    let told = |error: tokio_postgres::Error| sort(link.place(), &error);
    let Some(id) = row.try_get::<_, Option<i64>>(0).map_err(told)? else { return Ok(None) };
    let body = row.try_get::<_, &[u8]>(1).map_err(told)?;
    read(link, id, body).map(Some)
}

/// A mail from its columns.
pub(super) fn read(link: &Link, id: i64, body: &[u8]) -> Result<Mail, Trouble> {
    let body = serde_json::from_slice(body).map_err(|error| {
        let (place, reason) = (link.place().to_owned(), error.to_string());
        Trouble::Refused(StoreError::Corrupt { place, reason })
    })?;
    Ok(Mail { id: id.cast_unsigned(), body })
}

/// Messages that say something about runs, newest first. One that cannot be read concerns its own
/// lane, not every list.
pub(super) async fn pending(
    link: &mut Link,
    lane: Option<&LaneId>,
    most: i64,
) -> Result<Vec<PendingMessage>, Trouble> {
    let kinds = KINDS.to_vec();
    let values: [super::link::Value<'_>; 3] = [&lane.map(LaneId::as_str), &kinds, &most];
    let rows = link.query(&PENDING, &values).await?;
    let mut found = Vec::new();
    for row in &rows {
        let told = |error: tokio_postgres::Error| sort(link.place(), &error);
        let Ok(body) = serde_json::from_slice(row.try_get::<_, &[u8]>(1).map_err(told)?) else {
            continue;
        };
        found.push(PendingMessage {
            lane: LaneId::from(row.try_get::<_, String>(0).map_err(told)?),
            at: Millis(row.try_get::<_, i64>(2).map_err(told)?.cast_unsigned()),
            body,
            folder: row.try_get::<_, &str>(3).map_err(told)?.into(),
            agent: row.try_get::<_, &str>(4).map_err(told)?.into(),
        });
    }
    Ok(found)
}

/// The first of these mails that nobody can read, because it is not there or was read.
pub(super) async fn first_not_waiting(
    link: &mut Link,
    lane: &LaneId,
    mails: &[MailId],
) -> Result<Option<MailId>, Trouble> {
    let there = waiting(link, lane, usize::MAX).await?;
    let mut there: HashSet<MailId> = there.into_iter().map(|mail| mail.id).collect();
    Ok(mails.iter().copied().find(|mail| !there.remove(mail)))
}
