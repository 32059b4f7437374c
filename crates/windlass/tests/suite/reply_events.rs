//! Events of replies: as the provider sent them, before the entry of their reply, and only for
//! readers that asked for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use windlass::core::log::input::Input;
use windlass::core::log::record::Record;
use windlass::core::message::reply::ModelReply;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::scripted::server::{RequestObserver, ScriptedServer, ServedRequest};
use windlass::{StreamItem, StreamOptions, SystemClock, Windlass};
use windlass_providers::catalog::provider_table::{Credential, Dialect, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, Secret, SharedServices};
use windlass_runtime::feed::OWNER_QUEUE_ITEMS;

use crate::kit::{ProbeTool, pause, start_windlass};

const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

const WITH_EVENTS: StreamOptions =
    StreamOptions { reply_events: true, call_progress: false, call_summaries: false };

struct NoRequestObserver;

impl RequestObserver for NoRequestObserver {
    fn on_served(&self, _served: &ServedRequest) {}
}

/// The model behind a server that answers from `script`.
async fn served_model(format: WireFormat, script: &str) -> RemoteModel {
    let server = ScriptedServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (path, credential) = match format {
        WireFormat::AnthropicMessages => ("", Credential::Key(Secret::new("key"))),
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => {
            ("/v1", Credential::Token(Secret::new("key")))
        }
    };
    let base_url = format!("http://{}{path}", server.address());
    let clock = Arc::new(SystemClock::start());
    let script = Script::parse(script).unwrap();
    tokio::spawn(server.serve(
        script,
        Arc::clone(&clock) as _,
        Arc::new(NoRequestObserver),
        std::future::pending(),
    ));
    let endpoint = Endpoint {
        provider: Arc::from("test"),
        format,
        base_url,
        credential,
        dialect: Dialect::default(),
        model: Arc::from("test-model"),
    };
    RemoteModel::new(endpoint, SharedServices::new(clock), CallOptions::default()).unwrap()
}

/// What a reader saw: the events of each model call, and the replies.
#[derive(Default)]
struct SeenEvents {
    events: BTreeMap<u32, Vec<Value>>,
    replies: BTreeMap<u32, Arc<ModelReply>>,
    abandoned: Vec<u32>,
    text_pieces: usize,
}

impl SeenEvents {
    fn add(&mut self, item: &StreamItem) {
        match item {
            StreamItem::ReplyEvent { model_call, event } => {
                assert!(!self.replies.contains_key(model_call), "{event} after its reply");
                let events = self.events.entry(*model_call).or_default();
                events.push(serde_json::from_str(event).unwrap());
            }
            StreamItem::Entry(entry) => {
                if let Input::ModelReplied { model_call, reply, .. } = &entry.input {
                    self.replies.insert(*model_call, Arc::clone(reply));
                }
                let abandoned = entry.records.iter().filter_map(|record| match record {
                    Record::ModelCallAbandoned { model_call, .. } => Some(*model_call),
                    _ => None,
                });
                self.abandoned.extend(abandoned);
            }
            StreamItem::TextDelta { .. } | StreamItem::ThinkingDelta { .. } => {
                self.text_pieces += 1;
            }
            _ => {}
        }
    }

    /// The pieces of one kind, joined.
    fn joined(&self, model_call: u32, field: &str) -> String {
        let events = self.events.get(&model_call).into_iter().flatten();
        events.filter_map(|event| event["delta"][field].as_str()).collect()
    }

    fn last_kind(&self, model_call: u32) -> &str {
        self.events[&model_call].last().unwrap()["type"].as_str().unwrap()
    }
}

fn words(count: usize) -> String {
    (0..count).map(|n| format!("w{n} ")).collect::<String>().trim_end().to_owned()
}

#[tokio::test]
async fn events_of_every_wire_format_reach_their_reader() {
    let text = words(400);
    let script = format!(
        "when results 0\n  think \"hm, well\"\n  say \"{text}\"\n  \
         call Look as c1 {{\"why\": \"to see what is there\"}}\n  \
         usage in 10 out 20 cache_read 30\n\
         when any\n  say \"Done.\"\n"
    );
    for format in FORMATS {
        let w = Windlass::builder()
            .model(served_model(format, &script).await)
            .store(MemoryStore::default())
            .tool(ProbeTool::read("Look"))
            .allow_by_default()
            .start()
            .await
            .unwrap();
        let session = w.session("lane").with_stream_options(WITH_EVENTS);
        let mut run = session.send("go").await.unwrap();
        let mut seen = SeenEvents::default();
        while let Some(item) = run.next().await.unwrap() {
            seen.add(&item);
        }
        assert_eq!((seen.replies.len(), seen.text_pieces), (2, 0), "{format:?}");
        for (call, reply) in &seen.replies {
            let events = &seen.events[call];
            assert_eq!(events[0]["type"], "message_start", "{format:?}");
            assert_eq!(seen.last_kind(*call), "message_stop", "{format:?}");
            assert_eq!(seen.joined(*call, "text"), reply.text(), "{format:?}");
            let usage = &events[events.len() - 2]["usage"];
            assert_eq!(usage["output_tokens"], reply.usage.output_tokens, "{format:?}");
            assert_eq!(usage["cache_read_input_tokens"], reply.usage.cache_read_tokens);
        }
        assert_eq!(seen.joined(1, "thinking"), "hm, well", "{format:?}");
        let (_, call) = seen.replies[&1].tool_uses().next().unwrap();
        assert_eq!(seen.joined(1, "partial_json"), call.input.text(), "{format:?}");
        let ids: Vec<&str> =
            seen.events.values().map(|all| all[0]["message"]["id"].as_str().unwrap()).collect();
        let prefix = match format {
            WireFormat::AnthropicMessages => "msg_0",
            WireFormat::OpenAiChat => "chatcmpl-0",
            WireFormat::OpenAiResponses => "resp_0",
        };
        assert!(ids.iter().all(|id| id.starts_with(prefix)) && ids[0] != ids[1], "{ids:?}");
    }
}

#[tokio::test]
async fn a_burst_that_a_sleeping_owner_does_not_read_is_joined_and_lost_nowhere() {
    let text = words(400);
    let script = format!("when any\n  say \"{text}\"\n");
    let w = start_windlass(&script, MemoryStore::default(), &[]).await;
    let session = w.session("lane").with_stream_options(WITH_EVENTS);
    let mut run = session.send("go").await.unwrap();
    let is_reply = |entry: &windlass::core::log::entry::Entry| {
        matches!(entry.input, Input::ModelReplied { .. })
    };
    // Nothing is read before the reply is in the log.
    while !session.read_log().await.unwrap().iter().any(is_reply) {
        pause(5).await;
    }
    let (mut seen, mut items) = (SeenEvents::default(), 0);
    while let Some(item) = run.next().await.unwrap() {
        seen.add(&item);
        items += 1;
    }
    assert_eq!(seen.joined(1, "text"), text);
    assert_eq!(seen.last_kind(1), "message_stop");
    assert!(items <= 2 * OWNER_QUEUE_ITEMS, "{items} items");
}

#[tokio::test]
async fn an_owner_that_reads_slowly_gets_every_event_before_its_reply() {
    let text = words(400);
    let script = format!("when any\n  say \"{text}\"\n");
    let w = start_windlass(&script, MemoryStore::default(), &[]).await;
    let session = w.session("lane").with_stream_options(WITH_EVENTS);
    let mut run = session.send("go").await.unwrap();
    let mut seen = SeenEvents::default();
    while let Some(item) = run.next().await.unwrap() {
        seen.add(&item);
        pause(1).await;
    }
    assert_eq!(seen.joined(1, "text"), text);
    assert_eq!(seen.last_kind(1), "message_stop");
}

// spec: FEED-04
#[tokio::test]
async fn only_readers_that_asked_get_events() {
    let text = words(40);
    let script = format!("when any\n  pace 1ms\n  say \"{text}\"\n");
    let w = start_windlass(&script, MemoryStore::default(), &[]).await;
    let plain = w.session("lane");
    let detailed = plain.clone().with_stream_options(WITH_EVENTS);
    let (mut plain_reader, mut detailed_reader) = (plain.subscribe(0), detailed.subscribe(0));
    let mut run = plain.send("go").await.unwrap();
    let (mut owner, mut of_plain, mut of_detailed) =
        (SeenEvents::default(), SeenEvents::default(), SeenEvents::default());
    let owned = async {
        while let Some(item) = run.next().await.unwrap() {
            owner.add(&item);
        }
    };
    let read_plain = async {
        while of_plain.replies.is_empty() {
            of_plain.add(&plain_reader.next().await.unwrap());
        }
    };
    let read_detailed = async {
        while of_detailed.replies.is_empty() {
            of_detailed.add(&detailed_reader.next().await.unwrap());
        }
    };
    tokio::join!(owned, read_plain, read_detailed);
    assert!(owner.events.is_empty() && owner.text_pieces > 0);
    assert!(of_plain.events.is_empty() && of_plain.text_pieces > 0);
    assert_eq!(of_detailed.text_pieces, 0);
    assert_eq!(of_detailed.joined(1, "text"), text);
    assert_eq!(of_detailed.last_kind(1), "message_stop");
}

#[tokio::test]
async fn a_subscriber_that_lags_sees_the_beginning_of_a_reply_without_gaps() {
    let text = words(3_000);
    let script = format!("when any\n  say \"{text}\"\n");
    let w = start_windlass(&script, MemoryStore::default(), &[]).await;
    let session = w.session("lane").with_stream_options(WITH_EVENTS);
    let mut slow = session.subscribe(0);
    w.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap();
    let mut seen = SeenEvents::default();
    while seen.replies.is_empty() {
        seen.add(&slow.next().await.unwrap());
    }
    assert!(text.starts_with(&seen.joined(1, "text")), "{}", seen.joined(1, "text"));
    assert!(seen.events.values().map(Vec::len).sum::<usize>() < 3_000, "slow enough to lose some");
}

#[tokio::test]
async fn events_of_an_abandoned_attempt_stay_and_the_log_says_so() {
    let script = "when any\n  once\n  say \"This never comes to its\"\n  cut inside\n\
                  when any\n  say \"Done.\"\n";
    let w = start_windlass(script, MemoryStore::default(), &[]).await;
    let session = w.session("lane").with_stream_options(WITH_EVENTS);
    let mut run = session.send("go").await.unwrap();
    let mut seen = SeenEvents::default();
    while let Some(item) = run.next().await.unwrap() {
        if let StreamItem::ReplyEvent { model_call, .. } = &item {
            assert!(!seen.abandoned.contains(model_call));
        }
        seen.add(&item);
    }
    assert_eq!(seen.abandoned, [1]);
    assert_eq!(seen.joined(1, "text"), "This never ");
    let (second, reply) = seen.replies.iter().next().unwrap();
    assert_eq!(seen.joined(*second, "text"), reply.text());
    assert_eq!(seen.last_kind(*second), "message_stop");
}
