//! How long model calls take, from the logs of the newest runs: tables do not have it.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass::core::log::entry::Entry;
use windlass::messages::{SpanKind, SpanStatus, TimelineBuilder};
use windlass::ports::{RunInfo, Store, StoreError};

/// Runs whose logs are read.
const SAMPLED_RUNS: usize = 50;

/// Entries of one log that are read.
const SAMPLED_ENTRIES: usize = 500;

/// How long the model calls of a sample took.
#[derive(Debug, Serialize)]
pub(super) struct LatencySample {
    /// Calls in the sample.
    calls: usize,
    /// Calls without a reply.
    failed: usize,
    /// The time that half of the calls with a reply did not exceed, in milliseconds.
    median_ms: Option<u64>,
    /// The time that 95 of 100 did not exceed.
    p95_ms: Option<u64>,
}

/// Measures the model calls of the newest runs, by model.
pub(super) async fn sample(
    store: &dyn Store,
    runs: &[RunInfo],
) -> Result<BTreeMap<String, LatencySample>, StoreError> {
    let mut times: BTreeMap<String, (Vec<u64>, usize)> = BTreeMap::new();
    for run in runs.iter().take(SAMPLED_RUNS) {
        let model = run.description.model.as_deref().unwrap_or_default().to_owned();
        let (took, failed) = times.entry(model).or_default();
        let mut builder = TimelineBuilder::new(run.run.clone());
        for line in store.read_log(run.lane.clone(), 0, SAMPLED_ENTRIES).await? {
            let Ok(entry) = Entry::parse(line.seq, &line.line) else { break };
            builder.push(&entry);
        }
        let spans = builder.finish_reading().map(|timeline| timeline.spans).unwrap_or_default();
        for span in spans.iter().filter(|span| span.kind == SpanKind::ModelCall) {
            match (span.status, span.ended_at_ms) {
                (SpanStatus::Ok, Some(end)) => took.push(end.saturating_sub(span.started_at_ms)),
                (SpanStatus::Open, _) => {}
                _ => *failed += 1,
            }
        }
    }
    let samples = times.into_iter().filter(|(_, (took, failed))| took.len() + failed > 0);
    Ok(samples.map(|(model, (took, failed))| (model, summarize(took, failed))).collect())
}

fn summarize(mut took: Vec<u64>, failed: usize) -> LatencySample {
    took.sort_unstable();
    let at = |percent: usize| {
        let rank = took.len().saturating_mul(percent).div_ceil(100);
        took.get(rank.saturating_sub(1)).copied()
    };
    let (median_ms, p95_ms) = (at(50), at(95));
    LatencySample { calls: took.len() + failed, failed, median_ms, p95_ms }
}
