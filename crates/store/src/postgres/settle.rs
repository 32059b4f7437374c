//! After a connection was lost in the middle: did it land? The log itself says. An entry of our epoch
//! with our bytes in the last place of an append is that append, if the lane is still ours: a claim
//! that a crash forgot leaves its epoch to the next owner. Whoever lost the lane is told just that.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use tokio_postgres::Row;

use super::columns::{Columns, Places, columns};
use super::link::{Link, Sql};
use super::prepare::Prepared;
use super::trouble::{Trouble, sort};

columns!(
    /// The last entry of each append.
    Lasts { ord: i64, lane: Cow<'r, str>, owner: Cow<'r, str>, seq: i64 }
);

static LOOK: LazyLock<Sql> = LazyLock::new(|| {
    let mut places = Places::default();
    let table = places.table::<Lasts<'_>>("l");
    let text = format!(
        "SELECT l.ord, e.epoch, e.body, e.blob FROM {table}
         JOIN lane ON lane.id = l.lane AND lane.owner = l.owner JOIN entry e ON e.lane_no = lane.no AND e.seq = l.seq"
    );
    Sql { text, types: places.types }
});

/// Which of the appends landed, by their place in the list. One without entries leaves no proof.
pub(super) async fn landed(
    link: &mut Link,
    appends: &[&Prepared],
) -> Result<HashSet<usize>, Trouble> {
    let mut lasts = Lasts::default();
    for (ord, Prepared { append, .. }) in (0..).zip(appends) {
        if let Some(last) = append.entries.last() {
            lasts.ord.push(ord);
            lasts.lane.push(Cow::Borrowed(append.lane.as_str()));
            lasts.owner.push(Cow::Borrowed(&*append.owner));
            lasts.seq.push(last.seq.cast_signed());
        }
    }
    let rows = link.query(&LOOK, &lasts.values()).await?;
    let mut landed = HashSet::new();
    for row in &rows {
        let ord = row.try_get::<_, i64>(0).map_err(|error| sort(link.place(), &error))?;
        let place = usize::try_from(ord).unwrap_or(usize::MAX);
        let is_ours = appends.get(place).is_some_and(|append| is_last_of(append, row));
        landed.extend(is_ours.then_some(place));
    }
    Ok(landed)
}

fn is_last_of(prepared: &Prepared, row: &Row) -> bool {
    let bytes = |column| row.try_get::<_, Option<&[u8]>>(column).ok().flatten();
    let epoch = row.try_get::<_, i64>(1).ok().map(i64::cast_unsigned);
    let body = prepared.append.entries.last().map(|entry| entry.line.as_bytes());
    let same = match prepared.hashes.last() {
        Some(Some(hash)) => bytes(3) == Some(hash.as_slice()),
        _ => bytes(2) == body,
    };
    same && epoch == Some(prepared.append.epoch)
}
