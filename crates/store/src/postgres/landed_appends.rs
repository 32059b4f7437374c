//! Finds out from the log which appends landed before a connection was lost. An entry with our
//! epoch and our bytes at the last position of an append is that append, if the lane is still ours:
//! a claim that was lost in a crash leaves its epoch to the next owner. An owner that lost the lane
//! gets `Fenced`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use tokio_postgres::Row;

use super::column_arrays::{ColumnArrays, SqlParameters, columns};
use super::connection::{PgConnection, TypedSql};
use super::encoded_append::EncodedAppend;
use super::error::{PgError, classify_error};

columns!(
    /// Columns of the last entry of each append.
    LastEntryColumns { ord: i64, lane: Cow<'r, str>, owner: Cow<'r, str>, seq: i64 }
);

static FIND_LAST_ENTRIES: LazyLock<TypedSql> = LazyLock::new(|| {
    let mut places = SqlParameters::default();
    let table = places.unnest_table::<LastEntryColumns<'_>>("l");
    let text = format!(
        "SELECT l.ord, e.epoch, e.body, e.blob FROM {table}
         JOIN lane ON lane.id = l.lane AND lane.owner = l.owner JOIN entry e ON e.lane_no = lane.no AND e.seq = l.seq"
    );
    TypedSql { text, types: places.types }
});

/// Returns which of the appends landed, by their index. An append without entries leaves no proof.
pub(super) async fn find_landed(
    link: &mut PgConnection,
    appends: &[&EncodedAppend],
) -> Result<HashSet<usize>, PgError> {
    let mut lasts = LastEntryColumns::default();
    for (ord, EncodedAppend { append, .. }) in (0..).zip(appends) {
        if let Some(last) = append.entries.last() {
            lasts.ord.push(ord);
            lasts.lane.push(Cow::Borrowed(append.lane.as_str()));
            lasts.owner.push(Cow::Borrowed(&*append.owner));
            lasts.seq.push(last.seq.cast_signed());
        }
    }
    let rows = link.query(&FIND_LAST_ENTRIES, &lasts.values()).await?;
    let mut landed = HashSet::new();
    for row in &rows {
        let ord =
            row.try_get::<_, i64>(0).map_err(|error| classify_error(link.location(), &error))?;
        let place = usize::try_from(ord).unwrap_or(usize::MAX);
        let is_ours = appends.get(place).is_some_and(|append| is_last_entry_of(append, row));
        landed.extend(is_ours.then_some(place));
    }
    Ok(landed)
}

fn is_last_entry_of(prepared: &EncodedAppend, row: &Row) -> bool {
    let bytes = |column| row.try_get::<_, Option<&[u8]>>(column).ok().flatten();
    let epoch = row.try_get::<_, i64>(1).ok().map(i64::cast_unsigned);
    let body = prepared.append.entries.last().map(|entry| entry.line.as_bytes());
    let same = match prepared.hashes.last() {
        Some(Some(hash)) => bytes(3) == Some(hash.as_slice()),
        _ => bytes(2) == body,
    };
    same && epoch == Some(prepared.append.epoch)
}
