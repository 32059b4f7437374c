//! What the API server shows comes from the code of the commands, so that both say the same.

mod event_rows;
mod model_latency;
mod store_statistics;

use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::core::log::inbox::AnswerKind;
use windlass::core::settings::run_settings::RunSettings;
use windlass::ports::{BoxFuture, Clock, RunInfo, Store, StoreError, WorkerInfo};
use windlass::{DriveError, OpenQuestion, SystemClock};
use windlass_server::{Presenter, RunOptions, RunReport, StoreReport};

use crate::args::AgentArgs;
use crate::commands::explain::read_explanation;
use crate::inspect::history::ConversationHistory;
use crate::inspect::{iteration_trace, journal_view, raw_responses, worker_status};
use crate::messages;
use crate::setup;

/// Responses that are read from the store at once.
const PAGE_ROWS: usize = 64;

/// The most responses in a report about one run.
const MAX_RESPONSES: usize = 1_000;

/// Presents the runs of a store with the sentences and the tables of the commands.
pub(crate) struct ApiPresenter {
    /// What applies to runs that bring no settings of their own.
    pub(crate) agent: AgentArgs,
    pub(crate) store: Arc<dyn Store>,
}

impl Presenter for ApiPresenter {
    fn resolve_options(&self, options: &RunOptions) -> Result<Option<RunSettings>, String> {
        setup::resolve_run_options(&self.agent, options)
    }

    fn question_text(&self, open: &OpenQuestion) -> String {
        messages::question_text(&open.question.kind, &open.conversation)
    }

    fn answer_consequence(&self, open: &OpenQuestion, answer: AnswerKind) -> String {
        messages::answer_consequence(&open.question.kind, answer).to_owned()
    }

    fn report_run(
        &self,
        report: RunReport,
        run: RunInfo,
    ) -> BoxFuture<'_, Result<Value, DriveError>> {
        Box::pin(async move {
            let store = self.store.as_ref();
            let history = ConversationHistory::load(store, run.lane.clone()).await?;
            Ok(match report {
                RunReport::Explain => to_json(&read_explanation(store, &history, &run.run).await?),
                RunReport::Trace => trace_rows(&history, &run.run),
                RunReport::Events(filter) => {
                    event_rows::list_events(store, [run.lane].into(), Some(&run.run), &filter)
                        .await?
                }
                RunReport::Raw => list_responses(store, &history, &run.run).await?,
                RunReport::Journal => {
                    let journal = journal_view::journal_json(&history).unwrap_or_default();
                    serde_json::from_str(&journal).unwrap_or_default()
                }
            })
        })
    }

    fn report_store(&self, report: StoreReport) -> BoxFuture<'_, Result<Value, DriveError>> {
        Box::pin(async move {
            let store = self.store.as_ref();
            Ok(match report {
                StoreReport::Stats { days, filter } => {
                    store_statistics::read_statistics(store, days, &filter).await?
                }
                StoreReport::Events(filter, tenant) => {
                    let lanes = event_rows::newest_lanes(store, tenant.as_deref()).await?;
                    let mut events = event_rows::list_events(store, lanes, None, &filter).await?;
                    if tenant.is_some() {
                        event_rows::keep_conversations(&mut events);
                    }
                    events
                }
                StoreReport::Workers => list_workers(store).await?,
            })
        })
    }
}

/// A value that the commands print as JSON, too, so it can be encoded.
fn to_json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn to_page(rows: Vec<Value>) -> Value {
    json!({"data": rows, "next_cursor": null})
}

fn trace_rows(history: &ConversationHistory, run: &RunId) -> Value {
    let traces = iteration_trace::build_traces(history, Some(run));
    to_page(traces.iter().flat_map(|trace| trace.to_json().unwrap_or_default()).collect())
}

async fn list_responses(
    store: &dyn Store,
    history: &ConversationHistory,
    run: &RunId,
) -> Result<Value, StoreError> {
    let attempts = raw_responses::find_attempts(history, Some(run));
    let (mut after, mut rows) = (0, Vec::new());
    while rows.len() < MAX_RESPONSES {
        let page = store.read_raw_responses(history.lane.clone(), after, PAGE_ROWS).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        let found = page.iter().filter_map(|row| attempts.get(&row.seq)?.to_json(row).ok());
        rows.extend(found.filter_map(|line| serde_json::from_str::<Value>(&line).ok()));
    }
    Ok(to_page(rows))
}

async fn list_workers(store: &dyn Store) -> Result<Value, StoreError> {
    let now = SystemClock::start().now();
    let mut rows = Vec::new();
    for worker in store.list_workers().await? {
        let lanes = store.lanes_owned_by(worker.worker.clone()).await?.len();
        rows.push(worker_row(&worker, lanes, now));
    }
    Ok(to_page(rows))
}

fn worker_row(worker: &WorkerInfo, lanes: usize, now: UnixMillis) -> Value {
    let folders: Vec<&str> = worker.workspaces.iter().map(|it| &*it.path).collect();
    json!({
        "worker_id": &*worker.worker,
        "host": worker.workspaces.first().map(|workspace| &*workspace.host),
        "started_at_ms": start_of_worker(&worker.worker),
        "heartbeat_at_ms": now.0.saturating_sub(worker.silent_ms),
        "is_live": worker_status::is_alive(worker),
        "lanes": lanes,
        "workspaces": folders,
    })
}

/// When a worker started: its id begins with a UUID that says so.
fn start_of_worker(worker: &str) -> Option<u64> {
    let id = uuid::Uuid::try_parse(worker.split('+').next()?).ok()?;
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    Some(seconds.saturating_mul(1_000).saturating_add(u64::from(nanos / 1_000_000)))
}
