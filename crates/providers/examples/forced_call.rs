//! One forced tool call and its result against any server, printed as it comes back.
//!
//! `cargo run -p windlass-providers --example forced_call -- FORMAT URL MODEL`, with FORMAT one of
//! `messages`, `chat` and `responses`. No key is sent: this is for servers on this machine.

use std::error::Error;
use std::sync::Arc;

use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{
    ModelSpec as ModelSettings, Settings, ToolSpec,
};
use windlass_providers::catalog::provider_table::{Credential, Dialect, NamedChoice, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, SharedServices, notices_in};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Model, ReplyObserver};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, url, model] = arguments.as_slice() else {
        return Err("say FORMAT (messages, chat, responses), URL and MODEL".into());
    };
    let format = match format.as_str() {
        "messages" => WireFormat::AnthropicMessages,
        "chat" => WireFormat::OpenAiChat,
        "responses" => WireFormat::OpenAiResponses,
        other => return Err(format!("`{other}` is no format").into()),
    };
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("What is the weather in Paris, in celsius?")]);
    let remote = remote(format, url, model)?;
    let reply = ask(&remote, &transcript, ToolChoice::Tool("get_weather".into())).await?;
    show("forced call", &reply);
    let results = reply.tool_uses().map(|(_, call)| {
        ContentBlock::tool_result(
            &call.id,
            &RawJson::string("21 degrees, sunny"),
            ErrorFlag::Success,
        )
    });
    transcript.push_round(&reply.blocks, results.collect())?;
    show("after its result", &ask(&remote, &transcript, ToolChoice::Auto).await?);
    Ok(())
}

fn remote(format: WireFormat, url: &str, model: &str) -> Result<RemoteModel, Box<dyn Error>> {
    let endpoint = Endpoint {
        provider: Arc::from("local"),
        format,
        base_url: url.to_owned(),
        credential: Credential::None,
        dialect: Dialect { named_choice: NamedChoice(false), ..Dialect::default() },
        model: Arc::from(model),
    };
    let shared = SharedServices::new(Arc::new(SystemClock::start()));
    RemoteModel::new(endpoint, shared, CallOptions::default())
        .map_err(|failure| failure.message.to_string().into())
}

async fn ask(
    model: &RemoteModel,
    transcript: &Transcript,
    choice: ToolChoice,
) -> Result<ModelReply, Box<dyn Error>> {
    let mut settings = Settings::new(ModelSettings::with_defaults("local"));
    settings.system = Arc::from("You answer questions about the weather.");
    settings.tools = vec![ToolSpec {
        name: Arc::from("get_weather"),
        description: Arc::from("The weather in a city."),
        input_schema: RawJson::parse(
            r#"{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]}},"required":["city","unit"]}"#,
        )?,
    }];
    let request = ModelRequest {
        model_call: 1,
        settings: Arc::new(settings),
        transcript: transcript.clone(),
        loaded_tools: LoadedTools::default(),
        max_tokens: 200,
        choice,
        journal_digest: Arc::from(""),
        task_remaining_tokens: None,
    };
    model
        .call(request, Arc::new(IgnoreStream))
        .await
        .map_err(|failure| format!("{:?}: {}", failure.class, failure.message).into())
}

fn show(title: &str, reply: &ModelReply) {
    println!("{title}: {} {:?} {:?}", reply.stop_reason.as_str(), reply.usage, notices_in(reply));
    reply.blocks.iter().for_each(|block| println!("  {}", block.raw().text()));
    if let Some(cut) = &reply.truncated_block {
        println!("  cut: {} {}", cut.name, cut.partial);
    }
}

struct IgnoreStream;

impl ReplyObserver for IgnoreStream {
    fn on_text(&self, _piece: &str) {}
    fn on_thinking(&self, _piece: &str) {}
    fn on_block(&self, _index: u16, _block: &ContentBlock) {}
}
