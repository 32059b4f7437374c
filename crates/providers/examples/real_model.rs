//! One forced tool round trip with the model at `WINDLASS_REAL_MODEL_URL`, through each adapter.
//!
//! `cargo xtask real-model` starts a small real model and runs this against it.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use windlass_core::block::{Block, ErrorFlag};
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_core::settings::{self, Settings, ToolSpec};
use windlass_core::transcript::Transcript;
use windlass_providers::names::{Credential, Dialect, Format, NamedChoice};
use windlass_providers::{Delivery, Endpoint, Options, Remote, Shared};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model, Stream};

const PROMPT: &str = "What is the weather in Paris? Use the tool.";
const SCHEMA: &str =
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
const FORMATS: [Format; 3] =
    [Format::AnthropicMessages, Format::OpenAiChat, Format::OpenAiResponses];

/// Nobody watches.
struct Nobody;

impl Stream for Nobody {
    fn text(&self, _: &str) {}
    fn thinking(&self, _: &str) {}
    fn block(&self, _: u16, _: &Block) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let url = std::env::var("WINDLASS_REAL_MODEL_URL")?;
    let clock = Arc::new(SystemClock::start());
    let shared = Shared::new(clock.clone());
    let mut failed = 0;
    for format in FORMATS {
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            let start = clock.monotonic_ms();
            let told = match round_trip(&shared, &url, format, delivery).await {
                Ok(told) => told,
                Err(error) => {
                    failed += 1;
                    format!("failed: {error}")
                }
            };
            let took = clock.monotonic_ms().saturating_sub(start);
            println!("{format:?} {delivery:?}: {told} ({took} ms)");
        }
    }
    println!("real-model: {} round trips, {failed} failed", FORMATS.len() * 2);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The call the model makes when it must, and what it says to the result.
async fn round_trip(
    shared: &Shared,
    url: &str,
    format: Format,
    delivery: Delivery,
) -> Result<String, Box<dyn Error>> {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text(PROMPT)]);
    let remote = model(shared, url, (format, delivery))?;
    let reply = ask(&remote, transcript.clone(), ToolChoice::Only("get_weather".into())).await?;
    let (_, call) = reply.tool_uses().next().ok_or("no call although one was demanded")?;
    let called = format!("{} {}", call.name, call.input.text());
    let result =
        |id: &str| Block::tool_result(id, &Raw::string("21 degrees, sunny"), ErrorFlag::Fine);
    let results = reply.tool_uses().map(|(_, call)| result(&call.id)).collect();
    transcript.push_round(&reply.blocks, results)?;
    let answer = ask(&remote, transcript, ToolChoice::Nothing).await?;
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
    shared: &Shared,
    url: &str,
    (format, delivery): (Format, Delivery),
) -> Result<Remote, Box<dyn Error>> {
    let base_url = match format {
        Format::AnthropicMessages => url.to_owned(),
        Format::OpenAiChat | Format::OpenAiResponses => format!("{url}/v1"),
    };
    let endpoint = Endpoint {
        provider: Arc::from("real-model"),
        format,
        base_url,
        credential: Credential::Nothing,
        // A named choice is silently taken for a free one by this server.
        dialect: Dialect { named_choice: NamedChoice(false), ..Dialect::default() },
        model: Arc::from("smollm2"),
    };
    let options = Options { delivery, ..Options::default() };
    Remote::new(endpoint, shared.clone(), options)
        .map_err(|failure| failure.message.to_string().into())
}

async fn ask(
    model: &Remote,
    transcript: Transcript,
    choice: ToolChoice,
) -> Result<Reply, Box<dyn Error>> {
    let mut settings = Settings::new(settings::Model::named("smollm2"));
    settings.tools = vec![ToolSpec {
        name: Arc::from("get_weather"),
        description: Arc::from("The weather of a city."),
        input_schema: Raw::parse(SCHEMA)?,
    }];
    let request = Request {
        ask: 1,
        settings: Arc::new(settings),
        transcript,
        max_tokens: 200,
        choice,
        digest: Arc::from(""),
        task_left_tokens: None,
    };
    model.ask(request, Arc::new(Nobody)).await.map_err(|failure| failure.message.to_string().into())
}
