//! OpenTelemetry traces (cargo feature `otel`): the timeline of every run that ends in this process,
//! sent with OTLP over HTTP. The spans are read from the log, so a run that was resumed elsewhere is
//! one trace, and nothing is measured while it runs.
//!
//! Nothing is installed unless a variable names where traces go.

mod export_config;
mod protobuf;
mod run_spans;
mod span_encoding;
mod span_exporter;

#[cfg(test)]
mod export_config_tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use windlass::core::log::ids::{LaneId, RunId};
use windlass::ports::{Clock, Store};

use crate::{messages, terminal};
use export_config::ExportConfig;
use span_exporter::SpanExporter;

/// Ended runs that wait for their export; further ones are left out.
const QUEUED_RUNS: usize = 1_000;

/// How long a process that ends waits for the last exports.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The events with which runs end.
const RUN_END_EVENTS: [&str; 3] =
    ["agent_run.completed", "agent_run.cancelled", "agent_run.failed"];

/// A run that ended.
struct EndedRun {
    lane: LaneId,
    run: RunId,
}

/// The queue of this process, once the layer is installed.
struct ExportQueue {
    config: ExportConfig,
    sender: std::sync::Mutex<Option<mpsc::Sender<EndedRun>>>,
    receiver: std::sync::Mutex<Option<mpsc::Receiver<EndedRun>>>,
    worker: std::sync::Mutex<Option<tokio::task::JoinHandle<()>>>,
}

static QUEUE: OnceLock<ExportQueue> = OnceLock::new();

/// Puts ended runs into the queue.
pub(crate) struct RunEndLayer;

/// Returns the layer that notices ended runs, if a variable names where traces go. As the
/// specification demands, a value that cannot be used is reported, and the program goes on.
pub(crate) fn layer() -> Option<RunEndLayer> {
    if QUEUE.get().is_some() {
        return Some(RunEndLayer);
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let config = match ExportConfig::from_variables(&variable) {
        Ok(config) => config?,
        Err(reason) => {
            terminal::print_note(&messages::no_traces_sent(&reason));
            return None;
        }
    };
    let (sender, receiver) = mpsc::channel(QUEUED_RUNS);
    QUEUE.get_or_init(|| ExportQueue {
        config,
        sender: Some(sender).into(),
        receiver: Some(receiver).into(),
        worker: None.into(),
    });
    Some(RunEndLayer)
}

/// Starts to export the runs of a store.
///
/// # Errors
///
/// Returns why no connection can be made with the proxies of the environment.
pub(crate) fn start(store: &Arc<dyn Store>, clock: &Arc<dyn Clock>) -> anyhow::Result<()> {
    let Some(queue) = QUEUE.get() else { return Ok(()) };
    let Some(mut runs) = lock(&queue.receiver).take() else { return Ok(()) };
    let exporter = SpanExporter::new(queue.config.clone(), Arc::clone(store), clock)?;
    let worker = tokio::spawn(async move {
        while let Some(EndedRun { lane, run }) = runs.recv().await {
            exporter.export(&lane, &run).await;
        }
    });
    *lock(&queue.worker) = Some(worker);
    Ok(())
}

/// Waits until the queue is empty, for a process that ends.
pub(crate) async fn flush() {
    let Some(queue) = QUEUE.get() else { return };
    // Without a sender the worker ends after the last run.
    drop(lock(&queue.sender).take());
    let worker = lock(&queue.worker).take();
    if let Some(worker) = worker
        && tokio::time::timeout(FLUSH_TIMEOUT, worker).await.is_err()
    {
        tracing::warn!(target: "windlass", "traces were not sent in time; the last ones are lost");
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl<S: Subscriber> Layer<S> for RunEndLayer {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = RunFields::default();
        event.record(&mut fields);
        if !RUN_END_EVENTS.contains(&fields.event.as_str()) || fields.run.is_empty() {
            return;
        }
        let ended = EndedRun { lane: LaneId::from(fields.lane), run: RunId::from(fields.run) };
        let Some(queue) = QUEUE.get() else { return };
        let sender = lock(&queue.sender);
        // A full queue means that the receiver is gone; runs go on without their traces.
        if let Some(sender) = sender.as_ref() {
            drop(sender.try_send(ended));
        }
    }
}

/// What an event says about the run it belongs to.
#[derive(Default)]
struct RunFields {
    event: String,
    lane: String,
    run: String,
}

impl Visit for RunFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "event" => value.clone_into(&mut self.event),
            "lane" => value.clone_into(&mut self.lane),
            "run" => value.clone_into(&mut self.run),
            _ => {}
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}
