//! Whole runs: faults on real sockets, with the decisions of the core.

use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::Record;
use windlass_core::settings::conversation_settings::{Effort, ModelSpec, Settings};
use windlass_core::stop::{RunState, StopCause};
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallDeadlines, CallOptions};

use crate::byte_server::{ByteServer, ReceivedRequest, ServerAction, stream_head, streamed, whole};
use crate::format_scenarios::{FORMATS, cassette};
use crate::test_lane::TestLane;

const NAMES: [&str; 3] = ["claude-sonnet-4-6", "openai-chat:gpt-4o", "openai:gpt-5.5"];

fn hasty() -> CallOptions {
    let deadlines = CallDeadlines { connect_ms: 1_000, idle_ms: 150, total_ms: 20_000 };
    CallOptions { deadlines, ..CallOptions::default() }
}

fn settings(name: &str) -> Settings {
    let mut settings = Settings::new(ModelSpec::with_defaults(name));
    settings.stop_map.clear();
    settings
}

fn lane(server: &ByteServer, name: &str) -> TestLane {
    TestLane::new(&server.url, hasty(), settings(name))
}

fn format_of(request: &ReceivedRequest) -> WireFormat {
    let paths = ["/messages", "/chat/completions", "/responses"];
    FORMATS[paths.iter().position(|path| request.head.contains(path)).unwrap()]
}

fn answered(request: &ReceivedRequest) -> Vec<ServerAction> {
    streamed(&cassette(format_of(request), "text"))
}

/// A server that fails this many times, and then replies.
async fn failing(
    times: usize,
    fail: impl Fn(&ReceivedRequest) -> Vec<ServerAction> + Send + Sync + 'static,
) -> ByteServer {
    ByteServer::start(
        move |number, request| if number <= times { fail(request) } else { answered(request) },
    )
    .await
}

// spec: FAULT-30, FAULT-31, MODELS-04
#[tokio::test]
async fn a_fault_that_may_pass_is_tried_again_and_no_other_is() {
    for name in NAMES {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            let server = failing(1, move |_| whole(&format!("{status} No"), "", "{}")).await;
            let mut lane = lane(&server, name);
            let ended = lane.end().await;
            assert_eq!(ended.cause, StopCause::EndTurn, "{name} {status}");
            assert_eq!((server.asked().len(), lane.abandoned().len()), (2, 1), "{name} {status}");
        }
        for status in [400, 401, 402, 403, 404, 405, 422] {
            let server = failing(1, move |_| whole(&format!("{status} No"), "", "{}")).await;
            let ended = lane(&server, name).end().await;
            assert_eq!(ended.cause, StopCause::ProviderFailed, "{name} {status}");
            assert!(ended.cause.is_resumable());
            assert_eq!(server.asked().len(), 1, "{name} {status}");
        }
    }
}

// spec: MODELS-04, MODELS-05
#[tokio::test]
async fn a_server_that_falls_silent_is_tried_again() {
    for name in NAMES {
        let reading = failing(1, |_| vec![ServerAction::Pause(10_000)]).await;
        let idle = failing(1, |request| {
            let text = String::from_utf8(cassette(format_of(request), "text")).unwrap();
            let begun: String = text.split_inclusive("\n\n").take(3).collect();
            let mut acts = vec![stream_head(), ServerAction::Chunk(begun.into_bytes())];
            acts.extend((0..100).flat_map(|_| {
                [ServerAction::Chunk(b": ping\n\n".to_vec()), ServerAction::Pause(20)]
            }));
            acts
        })
        .await;
        for server in [reading, idle] {
            let mut lane = lane(&server, name);
            assert_eq!(lane.end().await.cause, StopCause::EndTurn, "{name}");
            let abandoned = lane.abandoned();
            assert!(abandoned[0].contains("no data received for 150 ms"), "{abandoned:?}");
        }
        let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", nowhere.local_addr().unwrap());
        drop(nowhere);
        let mut refused = TestLane::new(&url, hasty(), settings(name));
        refused.step().await;
        assert!(refused.pause_ms().is_some(), "{name}: a refused connection may pass");
    }
}

// spec: FAULT-29, MODELS-05
#[tokio::test]
async fn a_pause_is_what_the_server_asks_for_within_a_cap_or_grows_with_jitter() {
    let pauses = async |header: &'static str, steps: usize| {
        let fail = move |_: &ReceivedRequest| whole("429 Slow", header, "{}");
        let server = failing(usize::MAX, fail).await;
        let mut lane = lane(&server, NAMES[0]);
        let mut pauses = Vec::new();
        for _ in 0..steps {
            lane.step().await;
            pauses.extend(lane.pause_ms());
        }
        pauses
    };
    assert_eq!(pauses("retry-after: 7\r\n", 1).await, [7_000]);
    assert_eq!(pauses("retry-after: 999999\r\n", 1).await, [60_000], "no longer than the cap");
    let grown = pauses("", 13).await;
    assert_eq!(grown.len(), 7);
    for (pause, limit) in
        grown.iter().copied().zip([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000])
    {
        assert!(pause.abs_diff(limit) <= limit / 5, "{pause} of {limit}, a fifth either way");
    }
    assert!(grown.iter().any(|pause| pause % 1_000 != 0), "jitter: {grown:?}");
}

// spec: FAULT-30, MODELS-06
#[tokio::test]
async fn a_model_that_stays_down_is_waited_for_and_the_run_is_not_lost() {
    for name in NAMES {
        let server = failing(14, |_| whole("529 Overloaded", "", "{}")).await;
        let mut lane = lane(&server, name);
        let retries = settings(name).limits.model_retries as usize;
        let ended = lane.end().await;
        assert_eq!(ended.cause, StopCause::EndTurn, "{name}: it came back");
        assert_eq!(server.asked().len(), 15);
        let told = |event: &str| lane.events().filter(|row| row.name == event).count();
        assert_eq!(told("agent.model.retry"), retries, "{name}");
        assert_eq!(told("agent_run.waiting_on_provider"), 14 - retries, "{name}");
        let [_, running, waiting, .., completed] = lane.states()[..] else { panic!("{name}") };
        assert_eq!((running, completed), (RunState::Running, RunState::Completed), "{name}");
        assert_eq!(waiting, RunState::WaitingOnProvider, "{name}");
    }
}

/// The response had started with status 200, and the text so far does not count.
// spec: FAULT-33
#[tokio::test]
async fn an_error_after_the_beginning_is_tried_again() {
    for name in NAMES {
        let server = failing(2, |request| {
            let format = format_of(request);
            let text = String::from_utf8(cassette(format, "text")).unwrap();
            let begun: String = text.split_inclusive("\n\n").take(3).collect();
            let error = match format {
                WireFormat::AnthropicMessages => {
                    r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#
                }
                WireFormat::OpenAiChat => {
                    r#"{"error":{"message":"busy","type":"overloaded_error"}}"#
                }
                WireFormat::OpenAiResponses => {
                    r#"{"type":"error","code":"overloaded_error","message":"busy"}"#
                }
            };
            streamed(format!("{begun}event: error\ndata: {error}\n\n").as_bytes())
        })
        .await;
        let mut lane = lane(&server, name);
        assert_eq!(lane.end().await.cause, StopCause::EndTurn, "{name}");
        let abandoned = lane.abandoned();
        assert_eq!(abandoned.len(), 2, "{name}");
        assert!(abandoned[0].contains("busy"), "{abandoned:?}");
    }
}

/// A run that would wait too long is told so, and can be continued later.
// spec: MODELS-06
#[tokio::test]
async fn waiting_for_a_provider_ends_at_a_limit_and_can_be_resumed() {
    let server = failing(usize::MAX, |_| whole("503 Down", "", "{}")).await;
    let mut settings = settings(NAMES[0]);
    settings.limits.provider_wait_ms = 600_000;
    let mut lane = TestLane::new(&server.url, hasty(), settings);
    let (ended, waited) = (lane.end().await, lane.at.ms_since(UnixMillis(1_000_000)));
    assert_eq!(ended.cause, StopCause::ProviderFailed);
    assert!(ended.cause.is_resumable());
    assert!((600_000..1_200_000).contains(&waited), "{waited}");
    assert!(lane.states().contains(&RunState::WaitingOnProvider));
}

// spec: MODELS-10
#[tokio::test]
async fn an_effort_that_a_model_does_not_know_is_a_warning_event_once() {
    let server = failing(0, |_| Vec::new()).await;
    let mut settings = settings("openai-chat:some-model");
    settings.thinking.effort = Some(Effort::High);
    let mut lane = TestLane::new(&server.url, hasty(), settings);
    assert_eq!(lane.end().await.cause, StopCause::EndTurn);
    let warnings: Vec<&str> = lane
        .events()
        .filter(|row| row.name == "agent.model.warning")
        .map(|row| row.fields.text())
        .collect();
    assert_eq!(warnings, [r#"{"notices":["effort_ignored"]}"#]);
    assert!(!server.asked()[0].body.contains("effort"));
    let mut quiet = self::lane(&server, "openai-chat:some-model");
    quiet.end().await;
    assert!(quiet.events().all(|row| row.name != "agent.model.warning"));
}

// spec: MODELS-06, MODELS-07
#[tokio::test]
async fn another_model_takes_over_and_nothing_half_said_stays() {
    for (first, other) in [(NAMES[0], NAMES[1]), (NAMES[1], NAMES[2]), (NAMES[2], NAMES[0])] {
        let down = settings(first).limits.model_retries as usize + 1;
        let server = failing(down, |request| {
            let text = String::from_utf8(cassette(format_of(request), "calls")).unwrap();
            let events: Vec<&str> = text.split_inclusive("\n\n").collect();
            let half = events[..events.len() / 2].concat();
            vec![stream_head(), ServerAction::Chunk(half.into_bytes()), ServerAction::Close]
        })
        .await;
        let mut settings = settings(first);
        settings.fallback = Some(ModelSpec::with_defaults(other));
        let mut lane = TestLane::new(&server.url, hasty(), settings);
        let ended = lane.end().await;
        assert_eq!(ended.cause, StopCause::EndTurn, "{first}");
        assert_eq!(&*ended.text, "Grüße, 世界 😀\nZwei Zeilen \"und\" \\ mehr.");
        let set_off = lane.records.iter().find_map(|record| match record {
            Record::FallbackModelSelected { why } => Some(why.to_string()),
            _ => None,
        });
        assert!(
            set_off.unwrap().contains("the stream ended before the reply was complete"),
            "{first}"
        );
        assert_eq!(lane.abandoned().len(), down, "every attempt has its tombstone");
        // Rows and events name the model that replied.
        assert_eq!(lane.models_in_rows(), [first, other], "{first}");
        let told = lane.events().find(|event| event.name == "agent.model.fell_back").unwrap();
        assert!(
            told.fields.text().contains(&format!("\"model\":\"{other}\"")),
            "{}",
            told.fields.text()
        );
        let last = server.asked().pop().unwrap();
        assert_ne!(format_of(&last), format_of(&server.asked()[0]));
        assert!(!last.body.contains("I will read"), "{}", last.body);
    }
}

// spec: FAULT-27, FAULT-28, MODELS-08
#[tokio::test]
async fn a_stream_that_ends_early_is_asked_for_again_and_nothing_of_it_runs() {
    for name in NAMES {
        // Before the first block, inside a text, inside a call, and before the stop event.
        for sixths in 1..6 {
            let server = failing(1, move |request| {
                let text = String::from_utf8(cassette(format_of(request), "calls")).unwrap();
                let events: Vec<&str> = text.split_inclusive("\n\n").collect();
                let part = events[..(events.len() - 3) * sixths / 5].concat();
                vec![stream_head(), ServerAction::Chunk(part.into_bytes()), ServerAction::End]
            })
            .await;
            let mut lane = lane(&server, name);
            let ended = lane.end().await;
            assert_eq!(ended.cause, StopCause::EndTurn, "{name} {sixths}");
            assert_eq!((server.asked().len(), ended.counters.tool_calls), (2, 0), "{name}");
            let output = format!("{:?}", lane.now.transcript);
            assert!(!output.contains("tool_use") && !output.contains("I will read"), "{output}");
        }
    }
}
