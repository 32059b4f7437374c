//! One forced tool round trip with the model at `WINDLASS_REAL_MODEL_URL`, through each adapter.
//!
//! `cargo xtask real-model` starts a small real model and runs this against it.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{self, Settings, ToolSpec};
use windlass_providers::catalog::provider_table::{Credential, Dialect, NamedChoice, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, ReplyDelivery, SharedServices};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model, ReplyObserver};

const PROMPT: &str = "What is the weather in Paris? Use the tool.";
const SCHEMA: &str =
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
const FORMATS: [WireFormat; 3] =
    [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];

/// Nobody watches.
struct IgnoreStream;

impl ReplyObserver for IgnoreStream {
    fn on_text(&self, _: &str) {}
    fn on_thinking(&self, _: &str) {}
    fn on_block(&self, _: u16, _: &ContentBlock) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let url = std::env::var("WINDLASS_REAL_MODEL_URL")?;
    let clock = Arc::new(SystemClock::start());
    let shared = SharedServices::new(clock.clone());
    let mut failed = 0;
    for format in FORMATS {
        for delivery in [ReplyDelivery::Streamed, ReplyDelivery::Whole] {
            let start = clock.monotonic_ms();
            let text = match round_trip(&shared, &url, format, delivery).await {
                Ok(text) => text,
                Err(error) => {
                    failed += 1;
                    format!("failed: {error}")
                }
            };
            let elapsed = clock.monotonic_ms().saturating_sub(start);
            println!("{format:?} {delivery:?}: {text} ({elapsed} ms)");
        }
    }
    println!("real-model: {} round trips, {failed} failed", FORMATS.len() * 2);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The call the model makes when it must, and what it says to the result.
async fn round_trip(
    shared: &SharedServices,
    url: &str,
    format: WireFormat,
    delivery: ReplyDelivery,
) -> Result<String, Box<dyn Error>> {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text(PROMPT)]);
    let remote = model(shared, url, (format, delivery))?;
    let reply = ask(&remote, transcript.clone(), ToolChoice::Tool("get_weather".into())).await?;
    let (_, call) = reply.tool_uses().next().ok_or("no call although one was demanded")?;
    let called = format!("{} {}", call.name, call.input.text());
    let result = |id: &str| {
        ContentBlock::tool_result(id, &RawJson::string("21 degrees, sunny"), ErrorFlag::Success)
    };
    let results = reply.tool_uses().map(|(_, call)| result(&call.id)).collect();
    transcript.push_round(&reply.blocks, results)?;
    let answer = ask(&remote, transcript, ToolChoice::NoTools).await?;
    let usage = answer.usage;
    Ok(format!(
        "called {called}; then said {:?}; stopped with {}; {} tokens in, {} out",
        answer.text(),
        answer.stop_reason.as_str(),
        usage.input_tokens,
        usage.output_tokens
    ))
}

fn model(
    shared: &SharedServices,
    url: &str,
    (format, delivery): (WireFormat, ReplyDelivery),
) -> Result<RemoteModel, Box<dyn Error>> {
    let base_url = match format {
        WireFormat::AnthropicMessages => url.to_owned(),
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => format!("{url}/v1"),
    };
    let endpoint = Endpoint {
        provider: Arc::from("real-model"),
        format,
        base_url,
        credential: Credential::None,
        // A named choice is silently taken for a free one by this server.
        dialect: Dialect { named_choice: NamedChoice(false), ..Dialect::default() },
        model: Arc::from("smollm2"),
    };
    let options = CallOptions { delivery, ..CallOptions::default() };
    RemoteModel::new(endpoint, shared.clone(), options)
        .map_err(|failure| failure.message.to_string().into())
}

async fn ask(
    model: &RemoteModel,
    transcript: Transcript,
    choice: ToolChoice,
) -> Result<ModelReply, Box<dyn Error>> {
    let mut settings = Settings::new(conversation_settings::ModelSpec::with_defaults("smollm2"));
    settings.tools = vec![ToolSpec {
        name: Arc::from("get_weather"),
        description: Arc::from("The weather of a city."),
        input_schema: RawJson::parse(SCHEMA)?,
    }];
    let request = ModelRequest {
        model_call: 1,
        settings: Arc::new(settings),
        transcript,
        loaded_tools: LoadedTools::default(),
        max_tokens: 200,
        choice,
        journal_digest: Arc::from(""),
        task_remaining_tokens: None,
    };
    model
        .call(request, Arc::new(IgnoreStream))
        .await
        .map_err(|failure| failure.message.to_string().into())
}
