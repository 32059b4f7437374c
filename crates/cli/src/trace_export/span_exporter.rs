//! Reads ended runs from the store and sends their spans.

use std::sync::Arc;

use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::log::record::Record;
use windlass::core::run::child_runs::ParentLink;
use windlass::core::run::conversation::Conversation;
use windlass::messages::TimelineBuilder;
use windlass::models::{HttpClient, PlainRequest, ProxyRules};
use windlass::ports::{Clock, Store, StoreError};

use super::export_config::ExportConfig;
use super::run_spans::{RunIdentity, span_id, spans_of_run, trace_id};
use super::span_encoding::encode_request;

/// How often a request is repeated after a failure that may pass.
const MAX_ATTEMPTS: u32 = 4;

/// The pause after the first failure, in milliseconds; it doubles.
const FIRST_PAUSE_MS: u64 = 500;

/// How deep sub-agents are followed to the run at their root.
const MAX_DEPTH: usize = 16;

/// Entries that are read at once.
const PAGE_ENTRIES: usize = 1_000;

pub(super) struct SpanExporter {
    config: ExportConfig,
    store: Arc<dyn Store>,
    client: Arc<HttpClient>,
    clock: Arc<dyn Clock>,
}

impl SpanExporter {
    pub(super) fn new(
        config: ExportConfig,
        store: Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let proxies = ProxyRules::from_variables(&|name: &str| std::env::var(name).ok())?;
        let client = HttpClient::new(Arc::clone(clock)).with_proxy_rules(proxies);
        Ok(Self { config, store, client: Arc::new(client), clock: Arc::clone(clock) })
    }

    /// Sends the trace of a run. A trace that cannot be sent is left out, and the log says so.
    pub(super) async fn export(&self, lane: &LaneId, run: &RunId) {
        if let Err(reason) = self.try_export(lane, run).await {
            let run = run.as_str();
            tracing::warn!(target: "windlass", run, "the trace could not be sent: {reason}");
        }
    }

    async fn try_export(&self, lane: &LaneId, run: &RunId) -> Result<(), String> {
        let log = self.read_log(lane).await.map_err(|error| error.to_string())?;
        let mut builder = TimelineBuilder::new(run.clone());
        log.iter().for_each(|entry| builder.push(entry));
        let Some(timeline) = builder.finish_reading() else { return Ok(()) };
        let about = self.identify(lane, run, &log).await.map_err(|error| error.to_string())?;
        let trace = trace_id(&about.root_run);
        if !is_sampled(&trace, self.config.sampled_share) {
            return Ok(());
        }
        let spans = spans_of_run(&timeline, &about);
        self.send(encode_request(&self.config.resource, &trace, &spans)).await
    }

    async fn read_log(&self, lane: &LaneId) -> Result<Vec<Entry>, StoreError> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let after = entries.last().map_or(0, |entry| entry.seq);
            let page = self.store.read_log(lane.clone(), after, PAGE_ENTRIES).await?;
            let known = entries.len();
            entries.extend(page.iter().map_while(|it| Entry::parse(it.seq, &it.line).ok()));
            if page.is_empty() || entries.len() == known {
                return Ok(entries);
            }
        }
    }

    async fn identify(
        &self,
        lane: &LaneId,
        run: &RunId,
        log: &[Entry],
    ) -> Result<RunIdentity, StoreError> {
        let info = self.store.find_run(run.clone()).await?;
        let about = info.as_ref().map(|info| &info.description);
        let text = |text: Option<&Arc<str>>| text.map(|text| text.to_string()).unwrap_or_default();
        let content = self.config.with_content.then(|| {
            let answer = info.as_ref().and_then(|info| info.text.as_ref());
            (text(about.and_then(|it| it.prompt.as_ref())), text(answer))
        });
        let (root_run, parent_span) = self.find_root(run, log).await?;
        Ok(RunIdentity {
            root_run,
            parent_span,
            run: run.to_string(),
            conversation: lane.session_id().to_owned(),
            agent: text(about.and_then(|it| it.agent.as_ref())),
            model: text(about.and_then(|it| it.model.as_ref())),
            content,
        })
    }

    /// The run at the root of the tree, and the span of the parent run that waits for this one.
    async fn find_root(
        &self,
        run: &RunId,
        log: &[Entry],
    ) -> Result<(String, Option<[u8; 8]>), StoreError> {
        let (mut root, mut parent_span) = (run.clone(), None);
        let mut link = parent_of(log);
        for _ in 0..MAX_DEPTH {
            let Some(parent) = link else { break };
            let above = self.read_log(&parent.lane).await?;
            let Some(spawned_in) = run_that_spawned(&above, &parent) else { break };
            let child = format!("child {} {}", parent.call, parent.part);
            parent_span.get_or_insert_with(|| span_id(spawned_in.as_str(), &child));
            (root, link) = (spawned_in, parent_of(&above));
        }
        Ok((root.to_string(), parent_span))
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let mut headers = vec![("content-type".to_owned(), "application/x-protobuf".to_owned())];
        headers.extend(self.config.headers.iter().cloned());
        let mut pause_ms = FIRST_PAUSE_MS;
        let mut attempt = 1;
        loop {
            let request = PlainRequest {
                method: "POST".to_owned(),
                url: self.config.url.clone(),
                headers: headers.clone(),
                body: body.clone(),
            };
            let connect_ms = u64::try_from(self.config.timeout.as_millis()).unwrap_or(u64::MAX);
            let sent = self.client.send_plain(request, connect_ms);
            let problem = match tokio::time::timeout(self.config.timeout, sent).await {
                Ok(Ok(response)) if (200..300).contains(&response.status) => return Ok(()),
                // The specification names the statuses after which a request is repeated.
                Ok(Ok(response)) if [429, 502, 503, 504].contains(&response.status) => {
                    format!("the receiver responded with {}", response.status)
                }
                Ok(Ok(response)) => {
                    return Err(format!("the receiver refused it with {}", response.status));
                }
                Ok(Err(error)) => error.message,
                Err(_) => "the receiver did not respond in time".to_owned(),
            };
            if attempt >= MAX_ATTEMPTS {
                return Err(problem);
            }
            attempt += 1;
            self.clock.sleep(pause_ms).await;
            pause_ms *= 2;
        }
    }
}

/// The parent of a conversation, if it is a sub-agent's.
fn parent_of(log: &[Entry]) -> Option<ParentLink> {
    let mut conversation = Conversation::default();
    for entry in log {
        if conversation.fold(entry).is_err() || conversation.parent.is_some() {
            break;
        }
    }
    conversation.parent
}

/// The run in which a child was started.
fn run_that_spawned(log: &[Entry], link: &ParentLink) -> Option<RunId> {
    let mut active = None;
    for record in log.iter().flat_map(|entry| &entry.records) {
        match record {
            Record::RunStarted { run } => active = Some(run.clone()),
            Record::ChildrenSpawned { call, from, to, .. }
                if *call == link.call && (*from..*to).contains(&link.part) =>
            {
                return active;
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a trace is among the share that is sent: decided by its id, so that all processes
/// agree.
fn is_sampled(trace: &[u8; 16], share: f64) -> bool {
    let [.., a, b, c, d] = *trace;
    f64::from(u32::from_be_bytes([a, b, c, d])) < share * (f64::from(u32::MAX) + 1.0)
}
