//! Metrics for Prometheus. Labels have few values: methods, routes and classes of status as the
//! program knows them, states and stop causes; never names or ids.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::Instant;
use windlass::ports::{RunCount, StoreError};

use crate::caller::Caller;
use crate::config::{MAX_CONNECTIONS, MAX_STREAMS};
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::views::state_name;
use crate::webhook_deliveries::SentMessages;

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod metrics_tests;

/// How long counts of the store are not read again.
const COUNTS_AGE: Duration = Duration::from_secs(5);

/// The upper bounds of the buckets of request durations, in seconds.
const DURATION_BUCKETS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabels {
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

type DurationHistogram = Family<RouteLabels, Histogram, fn() -> Histogram>;

/// The metrics of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: DurationHistogram,
    connections: Gauge,
    streams: Gauge,
    prompts: Counter,
    deliveries: Family<OutcomeLabels, Counter>,
    runs: Family<StateLabels, Gauge>,
    finished: Family<CauseLabels, Counter<u64, AtomicU64>>,
    workers: Gauge,
    store_up: Gauge,
    /// When the counts of the store were read.
    counted_at: Mutex<Option<Instant>>,
}

fn duration_histogram() -> Histogram {
    Histogram::new(DURATION_BUCKETS)
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("windlass");
        let requests = Family::<RequestLabels, Counter>::default();
        let help = "Requests that were answered, by route and status";
        registry.register("http_requests", help, requests.clone());
        let durations: DurationHistogram = Family::new_with_constructor(duration_histogram);
        let help = "Time from the head of a request to the head of its response";
        registry.register("http_request_duration_seconds", help, durations.clone());
        let connections = Gauge::default();
        registry.register("http_connections", "Open connections", connections.clone());
        let streams = Gauge::default();
        registry.register("streams", "Open streams of events", streams.clone());
        let prompts = Counter::default();
        registry.register("prompts_accepted", "Prompts that were accepted", prompts.clone());
        let deliveries = Family::<OutcomeLabels, Counter>::default();
        let help = "Attempts to send a message to a webhook, by outcome";
        registry.register("webhook_deliveries", help, deliveries.clone());
        let runs = Family::<StateLabels, Gauge>::default();
        let help = "Runs of the store that have not ended, by state";
        registry.register("runs", help, runs.clone());
        let finished = Family::<CauseLabels, Counter<u64, AtomicU64>>::default();
        let help = "Runs of the store that ended, by stop cause";
        registry.register("runs_finished", help, finished.clone());
        let workers = Gauge::default();
        registry.register("workers", "Workers of the store that are alive", workers.clone());
        let store_up = Gauge::default();
        registry.register("store_up", "Whether the store responds", store_up.clone());
        Self {
            registry,
            requests,
            durations,
            connections,
            streams,
            prompts,
            deliveries,
            runs,
            finished,
            workers,
            store_up,
            counted_at: Mutex::default(),
        }
    }

    /// Counts a prompt that was accepted.
    pub(crate) fn count_prompt(&self) {
        self.prompts.inc();
    }

    /// Counts messages to webhooks.
    pub(crate) fn count_webhooks(&self, sent: SentMessages) {
        let SentMessages { delivered, failed, dead } = sent;
        for (outcome, count) in [("delivered", delivered), ("failed", failed), ("dead", dead)] {
            if count > 0 {
                self.deliveries.get_or_create(&OutcomeLabels { outcome }).inc_by(count);
            }
        }
    }

    fn observe_request(&self, labels: RequestLabels, took: Duration) {
        let route = RouteLabels { route: labels.route.clone() };
        self.durations.get_or_create(&route).observe(took.as_secs_f64());
        self.requests.get_or_create(&labels).inc();
    }

    fn set_counts(&self, counts: &[RunCount]) {
        self.runs.clear();
        for state in ["queued", "running", "waiting_on_human", "waiting_on_provider", "timed_out"] {
            self.runs.get_or_create(&StateLabels { state: state.to_owned() }).set(0);
        }
        for found in counts {
            let count = i64::try_from(found.count).unwrap_or(i64::MAX);
            match found.cause {
                None => {
                    let labels = StateLabels { state: state_name(found.state) };
                    self.runs.get_or_create(&labels).inc_by(count);
                }
                Some(cause) => {
                    let labels = CauseLabels { cause: cause.as_str() };
                    let counter = self.finished.get_or_create(&labels);
                    // Runs that were deleted are still counted: a counter does not go back.
                    counter.inc_by(found.count.saturating_sub(counter.get()));
                }
            }
        }
    }

    /// Takes a turn at reading the counts of the store, at most one in a while.
    fn should_count(&self) -> bool {
        let mut counted_at =
            self.counted_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_due = counted_at.is_none_or(|at| at.elapsed() >= COUNTS_AGE);
        if is_due {
            *counted_at = Some(Instant::now());
        }
        is_due
    }

    fn encode(&self, format: MetricsFormat) -> Result<String, std::fmt::Error> {
        let mut encoded = String::new();
        text::encode(&mut encoded, &self.registry)?;
        Ok(match format {
            MetricsFormat::OpenMetrics => encoded,
            MetricsFormat::Classic => to_classic(&encoded),
        })
    }
}

/// A text format of Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricsFormat {
    Classic,
    OpenMetrics,
}

impl MetricsFormat {
    /// The format that a client asks for.
    fn requested(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        match accept.is_some_and(|accept| accept.contains("application/openmetrics-text")) {
            true => Self::OpenMetrics,
            false => Self::Classic,
        }
    }

    fn media_type(self) -> HeaderValue {
        match self {
            Self::Classic => HeaderValue::from_static(CLASSIC),
            Self::OpenMetrics => HeaderValue::from_static(OPEN_METRICS),
        }
    }
}

/// Returns OpenMetrics in the classic format, where the name of a counter ends in `_total` in its
/// description, too, and there is no end mark.
fn to_classic(open_metrics: &str) -> String {
    let counters: Vec<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut classic = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        let about = ["# HELP ", "# TYPE "].into_iter().find_map(|begin| {
            let (name, rest) = line.strip_prefix(begin)?.split_once(' ')?;
            counters.contains(&name).then(|| format!("{begin}{name}_total {rest}"))
        });
        classic.push_str(about.as_deref().unwrap_or(line));
        classic.push('\n');
    }
    classic
}

/// Counts a request and measures how long its answer took.
pub(crate) async fn observe(
    State(state): State<ApiState>,
    path: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let begin = Instant::now();
    let method = match request.method().as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        _ => "other",
    };
    let response = next.run(request).await;
    let labels = RequestLabels {
        method,
        route: path.map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned()),
        status: format!("{}xx", response.status().as_u16() / 100),
    };
    state.metrics.observe_request(labels, begin.elapsed());
    response
}

/// `GET /metrics`.
pub(crate) async fn show_metrics(
    State(state): State<ApiState>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.check_operator()?;
    let metrics = &state.metrics;
    let used =
        |all: usize, free: usize| i64::try_from(all.saturating_sub(free)).unwrap_or(i64::MAX);
    metrics.streams.set(used(MAX_STREAMS, state.streams.available_permits()));
    metrics.connections.set(used(MAX_CONNECTIONS, state.connections.available_permits()));
    if metrics.should_count() {
        let counted = read_counts(&state).await;
        metrics.store_up.set(i64::from(counted.is_ok()));
    }
    let format = MetricsFormat::requested(&headers);
    let encoded = metrics.encode(format).map_err(|error| {
        Problem::new(ProblemCode::Internal, format!("the metrics could not be encoded: {error}"))
    })?;
    Ok(([(header::CONTENT_TYPE, format.media_type())], encoded).into_response())
}

async fn read_counts(state: &ApiState) -> Result<(), StoreError> {
    let store = state.windlass.store();
    state.metrics.set_counts(&store.count_runs().await?);
    let alive = store.list_workers().await?.len();
    state.metrics.workers.set(i64::try_from(alive).unwrap_or(i64::MAX));
    Ok(())
}
