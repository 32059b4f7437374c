//! Latency from an enqueued prompt to the model call of a worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinHandle;
use windlass::core::log::ids::LaneId;
use windlass::core::log::input::ModelFailure;
use windlass::core::message::reply::ModelReply;
use windlass::core::message::request::ModelRequest;
use windlass::ports::{BoxFuture, Model, ReplyObserver, Store, StoreError};
use windlass::{Windlass, WorkerSettings};
use windlass_bench::time_stats;
use windlass_store::PostgresStore;

use crate::duration_spread::DurationSpread;
use crate::{WORKERS, lane_observer};

/// Number of prompts that are sent, one after the other.
const PROMPTS: usize = 240;

/// Uncounted first prompts: connections are opened, statements prepared, and workers discover each
/// other.
const WARM_UP: usize = 60;

#[derive(Clone, Default)]
struct RecordingModel(Arc<Mutex<HashMap<usize, Instant>>>);

impl RecordingModel {
    fn asked_at(&self, nth: usize) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&nth).copied()
    }
}

/// Records when it is called, and never answers.
impl Model for RecordingModel {
    fn call(
        &self,
        _request: ModelRequest,
        _stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = asked.len();
        asked.insert(nth, time_stats::current_time());
        Box::pin(std::future::pending())
    }
}

/// Latencies until the model call.
#[derive(Default)]
pub(crate) struct StartLatencies {
    /// From the attempt to send the prompt.
    pub(crate) sent: DurationSpread,
    /// From the moment the prompt is accepted: on the disk, and acknowledged.
    pub(crate) accepted: DurationSpread,
}

pub(crate) async fn measure_start_latency(url: &str) -> Result<StartLatencies> {
    // Its own database, so that the other conversations do not interfere.
    windlass_cluster::run_query(url, "CREATE DATABASE starts").await?;
    let url = url.replace("/postgres", "/starts");
    let (front, asked) = (PostgresStore::open(&url).await?, RecordingModel::default());
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(InProcessWorker::start(&url, &asked).await?);
    }
    let mut took = StartLatencies::default();
    for nth in 0..PROMPTS {
        let begin = time_stats::current_time();
        front
            .enqueue_message(
                LaneId::from(format!("start:{nth}")),
                lane_observer::prompt_message(nth),
            )
            .await?;
        let accepted = time_stats::current_time();
        let at = loop {
            if let Some(at) = asked.asked_at(nth) {
                break at;
            }
            ensure!(begin.elapsed() < Duration::from_secs(30), "prompt {nth} was never begun");
            time_stats::pause(Duration::from_millis(1)).await;
        };
        if nth >= WARM_UP {
            took.sent.add(at.duration_since(begin));
            took.accepted.add(at.saturating_duration_since(accepted));
        }
        time_stats::pause(Duration::from_millis(60)).await;
    }
    for InProcessWorker { windlass, working } in workers {
        windlass.hand_over();
        working.await??;
    }
    Ok(took)
}

/// A worker with its own connections; it shares only the clock with the sender.
struct InProcessWorker {
    windlass: Windlass,
    working: JoinHandle<Result<(), StoreError>>,
}

impl InProcessWorker {
    async fn start(url: &str, asked: &RecordingModel) -> Result<Self> {
        let store = PostgresStore::open(url).await?;
        let windlass = Windlass::builder().model(asked.clone()).store(store).start().await?;
        let works = windlass.clone();
        let working =
            tokio::spawn(async move { works.run_worker_with(WorkerSettings::default()).await });
        Ok(Self { windlass, working })
    }
}
