use std::path::Path;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::RunId;
use windlass_core::log::record::Record;

use super::*;

/// The golden logs of the core: one for every kind of story.
fn golden_logs() -> Vec<(String, Vec<Entry>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/logs/v1");
    let mut logs = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let parse = |(at, line)| Entry::parse(at, line).unwrap();
            logs.push((name, (1..).zip(text.lines()).map(parse).collect()));
        }
    }
    assert!(logs.len() > 30);
    logs
}

fn runs_of(log: &[Entry]) -> Vec<RunId> {
    let records = log.iter().flat_map(|entry| &entry.records);
    let started = records.filter_map(|record| match record {
        Record::RunStarted { run } => Some(run.clone()),
        _ => None,
    });
    started.collect()
}

fn timeline_of(log: &[Entry], run: &RunId) -> RunTimeline {
    let mut builder = TimelineBuilder::new(run.clone());
    log.iter().for_each(|entry| builder.push(entry));
    builder.finish_reading().unwrap()
}

fn story(name: &str) -> RunTimeline {
    let (_, log) = golden_logs().into_iter().find(|(story, _)| story == name).unwrap();
    timeline_of(&log, runs_of(&log).first().unwrap())
}

/// The kinds, names and endings of the spans.
fn spans(timeline: &RunTimeline) -> Vec<String> {
    let line = |span: &TimelineSpan| {
        format!("{} {:?} {} {:?}", span.iteration, span.kind, span.name, span.status)
    };
    timeline.spans.iter().map(line).collect()
}

#[test]
fn every_span_of_an_ended_run_has_ended_and_belongs_to_it() {
    for (name, log) in golden_logs() {
        for run in runs_of(&log) {
            let timeline = timeline_of(&log, &run);
            let mut ids: Vec<&str> = timeline.spans.iter().map(|span| span.id.as_str()).collect();
            ids.sort_unstable();
            let count = ids.len();
            ids.dedup();
            assert_eq!(ids.len(), count, "{name} {run}: an id is there twice");
            for span in &timeline.spans {
                let place = format!("{name} {run}: {span:?}");
                assert!(span.started_at_ms >= timeline.started_at_ms, "{place}");
                assert!(!span.name.is_empty(), "{place}");
                if let Some(ended) = timeline.ended_at_ms {
                    assert!(span.status != SpanStatus::Open, "{place}");
                    assert!(span.ended_at_ms.is_some_and(|end| end <= ended), "{place}");
                }
            }
        }
    }
}

#[test]
fn a_crash_leaves_a_call_of_unknown_effect_and_a_takeover() {
    let spans = spans(&story("crash"));
    assert!(spans.iter().any(|span| span.contains("Takeover takeover Ok")), "{spans:#?}");
    assert!(spans.iter().any(|span| span.ends_with("Unknown")), "{spans:#?}");
}

#[test]
fn a_retry_belongs_to_the_iteration_of_the_call_that_failed() {
    let timeline = story("provider");
    let spans = spans(&timeline);
    let failed =
        spans.iter().position(|span| span.contains("ModelCall") && span.ends_with("Failed"));
    let failed = failed.unwrap_or_else(|| panic!("{spans:#?}"));
    let iteration = timeline.spans[failed].iteration;
    assert_eq!(timeline.spans[failed + 1].kind, SpanKind::RetryWait, "{spans:#?}");
    assert_eq!(timeline.spans[failed + 2].kind, SpanKind::ModelCall, "{spans:#?}");
    assert_eq!(timeline.spans[failed + 2].iteration, iteration, "{spans:#?}");
}

#[test]
fn every_attempt_of_a_tool_call_is_a_span() {
    let spans = spans(&story("retries"));
    let of = |ending: &str| {
        let calls = spans.iter().filter(|span| span.contains("ToolCall"));
        calls.filter(|span| span.ends_with(ending)).count()
    };
    assert!(of("Failed") >= 1, "{spans:#?}");
    assert_eq!(of("Ok"), 2, "{spans:#?}");
}

#[test]
fn a_run_that_has_not_started_has_no_timeline() {
    let builder = TimelineBuilder::new(RunId::from("none"));
    assert_eq!(builder.finish_reading(), None);
}
