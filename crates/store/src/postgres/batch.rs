//! Many appends as one statement: it moves the heads that are still where their owners believe, and
//! writes what belongs to those. One round trip, one commit, and what is fenced leaves no trace.
//!
//! Under READ COMMITTED a statement that waited for a lane's row looks at the row again as it is
//! then; if epoch and head still match, nobody else has appended meanwhile, so everything else the
//! statement saw of that lane is still true.

use std::borrow::Cow;
use std::collections::HashSet;

use windlass_core::ids::RunId;

use super::columns::{Columns, columns};
use super::link::{Link, Value};
use super::prepare::Prepared;
use super::rows::{Rows, signed};
use super::statement::{self, Parts};
use super::text::shown;
use super::trouble::Trouble;

columns!(
    /// One row per append.
    Given {
        ord: i64,
        lane: Cow<'r, str>,
        owner: Cow<'r, str>,
        epoch: i64,
        head: i64,
        entries: i64,
        wake_at: Option<i64>,
        active_run: Option<Cow<'r, str>>,
        mails: i64,
        runs: i64,
    }
);

columns!(
    /// `entry`.
    Entries {
        ord: i64,
        nth: i64,
        happened: i64,
        body: Option<&'r [u8]>,
        hash: Option<&'r [u8]>,
    }
);

columns!(
    /// `blob`.
    Blobs { ord: i64, hash: &'r [u8], bytes: &'r [u8] }
);

columns!(
    /// Mail that was read.
    Marks { ord: i64, mail_id: i64 }
);

columns!(
    /// `spending`.
    Spendings {
        ord: i64,
        account: Cow<'r, str>,
        period: Cow<'r, str>,
        tokens: i64,
        usd_micros: i64,
    }
);

/// What became of the statement: which appends passed the fence, and whether all of theirs landed.
#[derive(Debug, Default)]
pub(super) struct Landed {
    pub(super) passed: HashSet<i64>,
    pub(super) marks: i64,
    pub(super) runs: i64,
}

/// Whether the statement itself undoes everything when a mail was not waiting or a run is not the
/// lane's. A batch is committed by its own round trip, so nobody could undo it afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Guard {
    /// It does, by dividing by zero.
    Inside,
    /// The caller looks at the counts and decides.
    Outside,
}

#[derive(Debug, Default)]
struct Batch<'r> {
    given: Given<'r>,
    entries: Entries<'r>,
    blobs: Blobs<'r>,
    marks: Marks<'r>,
    rows: Rows<'r>,
    spendings: Spendings<'r>,
}

/// Writes the appends, which are of different lanes.
pub(super) async fn write(
    link: &mut Link,
    guard: Guard,
    appends: &[&Prepared],
) -> Result<Landed, Trouble> {
    let mut batch = Batch::default();
    (0..).zip(appends).for_each(|(ord, prepared)| batch.add(ord, prepared));
    let parts = batch.parts();
    let rows = link.query(statement::writing(parts, guard), &batch.values(parts)).await?;
    let mut landed = Landed::default();
    for row in rows {
        let number = |column| row.try_get::<_, i64>(column).unwrap_or_default();
        landed.passed.insert(number(0));
        (landed.marks, landed.runs) = (number(1), number(2));
    }
    Ok(landed)
}

impl<'r> Batch<'r> {
    fn add(&mut self, ord: i64, prepared: &'r Prepared) {
        let append = &prepared.append;
        self.rows.add(ord, prepared);
        let given = &mut self.given;
        given.ord.push(ord);
        given.lane.push(Cow::Borrowed(append.lane.as_str()));
        given.owner.push(Cow::Borrowed(&*append.owner));
        given.epoch.push(append.epoch.cast_signed());
        given.head.push(append.head.cast_signed());
        given.entries.push(append.entries.len().cast_signed() as i64);
        given.wake_at.push(append.wake_at.map(signed));
        given.active_run.push(append.active_run.as_ref().map(RunId::as_str).map(shown));
        given.mails.push(append.mail_read.len().cast_signed() as i64);
        given.runs.push(prepared.runs());
        for mail in &append.mail_read {
            self.marks.ord.push(ord);
            self.marks.mail_id.push(mail.cast_signed());
        }
        if let Some(change) = &append.spending {
            self.spendings.ord.push(ord);
            self.spendings.account.push(shown(&change.account.profile));
            self.spendings.period.push(shown(&change.account.period));
            self.spendings.tokens.push(change.tokens);
            self.spendings.usd_micros.push(change.usd_micros);
        }
        self.add_entries(ord, prepared);
    }

    fn add_entries(&mut self, ord: i64, prepared: &'r Prepared) {
        let entries = prepared.append.entries.iter().zip(&prepared.hashes);
        for (nth, (entry, hash)) in (1..).zip(entries) {
            let bytes = entry.line.as_bytes();
            self.entries.ord.push(ord);
            self.entries.nth.push(nth);
            self.entries.happened.push(signed(entry.at));
            self.entries.body.push(hash.is_none().then_some(bytes));
            self.entries.hash.push(hash.as_ref().map(<[u8; 32]>::as_slice));
            if let Some(hash) = hash {
                self.blobs.ord.push(ord);
                self.blobs.hash.push(hash.as_slice());
                self.blobs.bytes.push(bytes);
            }
        }
    }

    /// The parts that have something to write.
    fn parts(&self) -> Parts {
        let Rows { traces, raws, results, .. } = &self.rows;
        Parts {
            blobs: !self.blobs.ord.is_empty(),
            marks: !self.marks.ord.is_empty(),
            replies: !traces.ord.is_empty() || !raws.ord.is_empty(),
            results: !results.ord.is_empty(),
            spendings: !self.spendings.ord.is_empty(),
        }
    }

    /// In the order of the statement.
    fn values(&self, parts: Parts) -> Vec<Value<'_>> {
        let rows = &self.rows;
        let values = [
            (true, self.given.values()),
            (parts.blobs, self.blobs.values()),
            (true, self.entries.values()),
            (parts.marks, self.marks.values()),
            (true, rows.runs.values()),
            (parts.replies, rows.traces.values()),
            (parts.results, rows.results.values()),
            (true, rows.checkpoints.values()),
            (true, rows.events.values()),
            (parts.replies, rows.raws.values()),
            (parts.spendings, self.spendings.values()),
        ];
        values.into_iter().filter(|(is_part, _)| *is_part).flat_map(|(_, part)| part).collect()
    }
}
