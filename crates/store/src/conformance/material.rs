//! What the cases are made of.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::ids::{Epoch, LaneId, Millis, RunId, Seq};
use windlass_core::mail::MailBody;
use windlass_core::project::{Row, RunDescription, RunRow, TraceRow};
use windlass_core::record::Durability;
use windlass_core::reply::Usage;
use windlass_core::run::Counters;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{Append, EncodedEntry, Letter, Store, StoreError, WorkerId};

pub(super) type Subject = Arc<dyn Store>;
pub(super) type Verdict = Result<(), StoreError>;

pub(super) fn lane(name: &str) -> LaneId {
    LaneId::from(format!("conversation:{name}"))
}

pub(super) fn worker(name: &str) -> WorkerId {
    Arc::from(name)
}

pub(super) fn prompt(text: &str) -> MailBody {
    let blocks = vec![Block::text(text)];
    MailBody::prompt(RunId::derived(text), blocks)
}

pub(super) fn letter(key: &str) -> Letter {
    Letter { key: Arc::from(key), body: prompt(key) }
}

pub(super) fn entry(seq: Seq, line: &str) -> EncodedEntry {
    EncodedEntry { seq, at: Millis(1_000 + seq), line: Arc::from(line) }
}

/// Entries `from..=upto`, each with a line that says which it is.
pub(super) fn entries(who: &str, from: Seq, upto: Seq) -> Vec<EncodedEntry> {
    (from..=upto).map(|seq| entry(seq, &format!("{{\"{who}\":{seq}}}"))).collect()
}

/// By worker `w`.
pub(super) fn append(lane: &LaneId, epoch: Epoch, head: Seq, entries: Vec<EncodedEntry>) -> Append {
    Append {
        lane: lane.clone(),
        owner: worker("w"),
        epoch,
        head,
        entries,
        mail_read: Vec::new(),
        mail_out: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: None,
        durability: Durability::Commit,
        spending: None,
    }
}

/// The same by another worker.
pub(super) fn by(name: &str, append: Append) -> Append {
    Append { owner: worker(name), ..append }
}

pub(super) fn run_row(run: &str, state: RunState, at: u64) -> Row {
    Row::Run(RunRow {
        run: RunId::derived(run),
        state,
        cause: None,
        also: Vec::new(),
        text: None,
        counters: Counters::default(),
        usd_micros: None,
        description: RunDescription::default(),
        cancel_requested: false,
        at: Millis(at),
    })
}

pub(super) fn trace_row(run: &str, iter: u32, stop_reason: &str) -> Row {
    Row::Trace(TraceRow {
        run: RunId::derived(run),
        iter,
        stop_reason: Arc::from(stop_reason),
        reply_stop_reason: Some("new".into()),
        model: Some("m".into()),
        tool_calls: Vec::new(),
        usage: Usage::default(),
        transition: "prompt",
        at: Millis(1),
    })
}

/// A message that begins no run.
pub(super) fn note(key: &str) -> Letter {
    Letter { key: Arc::from(key), body: MailBody::Memory { text: Arc::from(key) } }
}

/// A lane with one mail, owned by worker `w`; gives its epoch.
pub(super) async fn owned(store: &Subject, lane: &LaneId) -> Result<Epoch, StoreError> {
    store.deliver(lane.clone(), note("first")).await?;
    Ok(store.claim(lane.clone(), worker("w"), None).await?.epoch)
}

/// A lane with entries 1 to `upto`, owned; gives its epoch.
pub(super) async fn written(
    store: &Subject,
    lane: &LaneId,
    upto: Seq,
) -> Result<Epoch, StoreError> {
    let epoch = owned(store, lane).await?;
    store.append(append(lane, epoch, 0, entries(lane.as_str(), 1, upto))).await?;
    Ok(epoch)
}

pub(super) async fn log(store: &Subject, lane: &LaneId) -> Result<Vec<EncodedEntry>, StoreError> {
    store.read_log(lane.clone(), 0, usize::MAX).await
}

pub(super) async fn head(store: &Subject, lane: &LaneId) -> Result<Option<Seq>, StoreError> {
    Ok(store.lane(lane.clone()).await?.map(|found| found.head))
}
