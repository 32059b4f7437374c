//! Concurrent appends of many conversations.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use windlass_bench::time_stats;
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::{OutboxMessage, Store};

use crate::WORKER;
use crate::latency_spread::LatencySpread;
use crate::recorded_conversation::{RecordedConversation, record_conversation};
use crate::tested_store::ResourceMeter;

pub(crate) const HEADING: &str = "waits for  conversations     steps/s   latency                            CPU/step   syncs/step  steps/commit";

pub(crate) struct AppendLoad {
    pub(crate) conversations: usize,
    pub(crate) durability: Durability,
    pub(crate) seconds: u64,
}

impl AppendLoad {
    pub(crate) async fn run(&self, store: Arc<dyn Store>, meter: &ResourceMeter) -> Result<String> {
        let story = Arc::new(record_conversation(20, 25_000)?);
        let before = meter.read();
        let begin = time_stats::current_time();
        let end = begin + Duration::from_secs(self.seconds);
        let drivers: Vec<_> = (0..self.conversations)
            .map(|no| {
                let driver = LaneDriver {
                    store: Arc::clone(&store),
                    story: Arc::clone(&story),
                    lane: LaneId::from(format!("conversation:0199d1c0-7a4e-7c30-9f00-{no:012}")),
                    durability: self.durability,
                };
                tokio::spawn(async move { driver.drive(end).await })
            })
            .collect();
        let mut times = Vec::new();
        for driver in drivers {
            times.extend(driver.await??);
        }
        let took = begin.elapsed();
        Ok(self.format_report(times, took, &meter.read().since(&before)))
    }

    fn format_report(&self, times: Vec<Duration>, took: Duration, used: &ResourceUse) -> String {
        let steps = times.len().max(1) as f64;
        let per_second = steps / took.as_secs_f64();
        let cpu_us = used.cpu.as_secs_f64() * 1e6 / steps;
        let per_commit = steps / (used.commits as f64).max(1.0);
        format!(
            "{:9}  {:13}  {per_second:10.0}   {}   {cpu_us:5.0} us   {:10.3}  {per_commit:12.1}",
            format!("{:?}", self.durability).to_lowercase(),
            self.conversations,
            LatencySpread::from_times(times),
            used.syncs as f64 / steps,
        )
    }
}

/// Resources used by the process and by the server beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResourceUse {
    pub(crate) cpu: Duration,
    pub(crate) syncs: u64,
    pub(crate) commits: u64,
}

impl ResourceUse {
    fn since(&self, before: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            syncs: self.syncs.saturating_sub(before.syncs),
            commits: self.commits.saturating_sub(before.commits),
        }
    }
}

struct LaneDriver {
    store: Arc<dyn Store>,
    story: Arc<RecordedConversation>,
    lane: LaneId,
    durability: Durability,
}

impl LaneDriver {
    /// Appends the recorded conversation again and again, each time as another run.
    async fn drive(&self, end: std::time::Instant) -> Result<Vec<Duration>> {
        let letter =
            OutboxMessage { idempotency_key: Arc::from("prompt"), body: self.story.prompt.clone() };
        self.store.enqueue_message(self.lane.clone(), letter).await?;
        let epoch = self.store.claim_lane(self.lane.clone(), Arc::from(WORKER), None).await?.epoch;
        let mut times = Vec::new();
        let steps = self.story.steps.len();
        let places = (0..).zip(self.story.steps.iter().cycle());
        for (head, step) in places.take_while(|_| time_stats::current_time() < end) {
            let run = RunId::from_name(&format!("{}:{}", self.lane, head as usize / steps));
            let mut append = step.to_append(&self.lane, epoch, head, &run);
            append.durability = self.durability;
            let begin = time_stats::current_time();
            self.store.append(append).await?;
            times.push(begin.elapsed());
        }
        Ok(times)
    }
}
