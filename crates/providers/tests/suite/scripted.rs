//! The scripted model, called directly and through its own server in all three formats: the same
//! conversation, the same replies, the same failures.

use std::sync::Arc;

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::transcript::Transcript;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallOptions, RemoteModel, ReplyDelivery};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::Model;
use windlass_scripted::server::{RequestObserver, ScriptedServer, ServedRequest};
use windlass_scripted::{Script, ScriptedModel};

use crate::adapter::{endpoint, prompt, request, shared};
use crate::format_scenarios::{ExpectedPart, ExpectedReply, FORMATS, to_expected};
use crate::recording_stream::RecordingStream;

const SCRIPT: &str = r#"
when user is "read" and results 0
  think "Both are wanted."
  say "Reading."
  call Read as call_1 {"file_path": "a.txt"}
  call Read as call_2 {"file_path": "é \" \\ b.txt"}

when results 2
  say "Both are read: ${result}"

when user is "long"
  say "and so on and so"
  stop max_tokens

when user is "torn"
  say "Writing."
  truncate call Write {"content": "abc

when user is "busy"
  fail 529 retry-after 2 "busy"

when user is "late"
  say "This never comes to its"
  cut inside

when user is "wrong"
  fail 401 "who are you"

when user is "huge"
  fail 400 "prompt is too long: 9 tokens > 8 maximum"
"#;

struct Nobody;

impl RequestObserver for Nobody {
    fn on_served(&self, _served: &ServedRequest) {}
}

async fn serve() -> String {
    let server = ScriptedServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", server.address());
    let script = Script::parse(SCRIPT).unwrap();
    let clock = Arc::new(SystemClock::start());
    tokio::spawn(server.serve(script, clock, Arc::new(Nobody), std::future::pending()));
    url
}

fn model(format: WireFormat, url: &str) -> RemoteModel {
    delivered(format, url, ReplyDelivery::Streamed)
}

fn delivered(format: WireFormat, url: &str, delivery: ReplyDelivery) -> RemoteModel {
    let url = match format {
        WireFormat::AnthropicMessages => url.to_owned(),
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => format!("{url}/v1"),
    };
    let options = CallOptions { delivery, ..CallOptions::default() };
    RemoteModel::new(endpoint(format, &url), shared(), options).unwrap()
}

async fn ask(model: &dyn Model, transcript: &Transcript) -> Result<ModelReply, ModelFailure> {
    model.call(request(transcript.clone()), RecordingStream::new()).await
}

/// Two turns: a prompt with calls, and their results.
async fn conversation(model: &dyn Model) -> Vec<ExpectedReply> {
    let mut transcript = prompt("read");
    let first = ask(model, &transcript).await.unwrap();
    let results = first.tool_uses().map(|(_, call)| {
        ContentBlock::tool_result(&call.id, &RawJson::string("content of it\n"), ErrorFlag::Success)
    });
    transcript.push_round(&first.blocks, results.collect()).unwrap();
    let second = ask(model, &transcript).await.unwrap();
    vec![to_expected(&first), to_expected(&second)]
}

#[tokio::test]
async fn a_conversation_is_the_same_in_every_format() {
    let url = serve().await;
    let script = Script::parse(SCRIPT).unwrap();
    let direct = ScriptedModel::new(script, Arc::new(SystemClock::start()));
    let wanted = conversation(&direct).await;
    assert_eq!(wanted[1].parts, [ExpectedPart::Text("Both are read: content of it\n".to_owned())]);
    for format in FORMATS {
        for delivery in [ReplyDelivery::Streamed, ReplyDelivery::Whole] {
            let model = delivered(format, &url, delivery);
            assert_eq!(conversation(&model).await, wanted, "{format:?} {delivery:?}");
        }
    }
}

#[tokio::test]
async fn tokens_are_counted_where_the_format_has_it() {
    let url = serve().await;
    let messages = model(WireFormat::AnthropicMessages, &url);
    let few = messages.count_tokens(&request(prompt("read"))).await.unwrap();
    let many = messages.count_tokens(&request(prompt(&"read ".repeat(500)))).await.unwrap();
    assert!(few > 0 && many > few, "{few} {many}");
}

#[tokio::test]
async fn cut_replies_are_the_same_in_every_format() {
    let url = serve().await;
    let script = Script::parse(SCRIPT).unwrap();
    let direct = ScriptedModel::new(script, Arc::new(SystemClock::start()));
    for word in ["long", "torn"] {
        let wanted = to_expected(&ask(&direct, &prompt(word)).await.unwrap());
        for format in FORMATS {
            let reply = ask(&model(format, &url), &prompt(word)).await.unwrap();
            assert_eq!(to_expected(&reply), wanted, "{word} of {format:?}");
        }
    }
}

#[tokio::test]
async fn failures_have_the_same_class_in_every_format() {
    let url = serve().await;
    let wanted = [
        ("busy", FailureClass::Transient, Some(2_000)),
        ("late", FailureClass::StreamCut, None),
        ("wrong", FailureClass::Permanent, None),
        ("huge", FailureClass::ContextTooLong, None),
    ];
    for (word, class, retry_after_ms) in wanted {
        for format in FORMATS {
            let failure = ask(&model(format, &url), &prompt(word)).await.unwrap_err();
            let got = (failure.class, failure.retry_after_ms);
            assert_eq!(got, (class, retry_after_ms), "{word} of {format:?}: {}", failure.message);
        }
    }
}
