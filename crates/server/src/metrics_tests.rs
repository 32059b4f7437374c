use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use windlass::core::stop::{RunState, StopCause};
use windlass::ports::RunCount;

use super::{Metrics, MetricsFormat, RequestLabels};

fn sample() -> Metrics {
    let metrics = Metrics::new();
    let labels = RequestLabels {
        method: "GET",
        route: "/v1/runs/{run_id}".to_owned(),
        status: "2xx".to_owned(),
    };
    metrics.observe_request(labels, Duration::from_millis(3));
    metrics.count_prompt();
    metrics.set_counts(&[
        RunCount { state: RunState::Queued, cause: None, count: 4 },
        RunCount { state: RunState::Completed, cause: Some(StopCause::EndTurn), count: 7 },
    ]);
    metrics
}

#[test]
fn both_formats_have_every_metric() {
    let metrics = sample();
    let open = metrics.encode(MetricsFormat::OpenMetrics).unwrap();
    assert!(open.ends_with("# EOF\n"), "{open}");
    assert!(open.contains("# TYPE windlass_http_requests counter"), "{open}");
    let classic = metrics.encode(MetricsFormat::Classic).unwrap();
    assert!(!classic.contains("# EOF"), "{classic}");
    for line in [
        "# TYPE windlass_http_requests_total counter",
        "windlass_http_requests_total{method=\"GET\",route=\"/v1/runs/{run_id}\",status=\"2xx\"} 1",
        "windlass_prompts_accepted_total 1",
        "windlass_runs{state=\"queued\"} 4",
        "windlass_runs{state=\"running\"} 0",
        "windlass_runs_finished_total{cause=\"end_turn\"} 7",
    ] {
        assert!(classic.lines().any(|found| found == line), "{line}\n{classic}");
        assert!(line.starts_with('#') || open.lines().any(|found| found == line), "{line}\n{open}");
    }
}

#[test]
fn counters_do_not_go_back() {
    let metrics = sample();
    let counted = |count| {
        let cause = Some(StopCause::EndTurn);
        metrics.set_counts(&[RunCount { state: RunState::Completed, cause, count }]);
        metrics.encode(MetricsFormat::Classic).unwrap()
    };
    assert!(counted(3).contains("windlass_runs_finished_total{cause=\"end_turn\"} 7"));
    assert!(counted(9).contains("windlass_runs_finished_total{cause=\"end_turn\"} 9"));
}

#[test]
fn the_format_is_negotiated() {
    let mut headers = HeaderMap::new();
    assert_eq!(MetricsFormat::requested(&headers), MetricsFormat::Classic);
    let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    headers.insert(header::ACCEPT, HeaderValue::from_static(prometheus));
    assert_eq!(MetricsFormat::requested(&headers), MetricsFormat::OpenMetrics);
}
