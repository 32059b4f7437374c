//! One forced tool call and its result against any server, printed as it comes back.
//!
//! `cargo run -p windlass-providers --example forced_call -- FORMAT URL MODEL`, with FORMAT one of
//! `messages`, `chat` and `responses`. No key is sent: this is for servers on this machine.

use std::error::Error;
use std::sync::Arc;

use windlass_core::block::{Block, ErrorFlag};
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_core::settings::{Model as ModelSettings, Settings, ToolSpec};
use windlass_core::transcript::Transcript;
use windlass_providers::names::{Credential, Dialect, Format, NamedChoice};
use windlass_providers::{Endpoint, Options, Remote, Shared, notices};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Model, Stream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, url, model] = arguments.as_slice() else {
        return Err("say FORMAT (messages, chat, responses), URL and MODEL".into());
    };
    let format = match format.as_str() {
        "messages" => Format::AnthropicMessages,
        "chat" => Format::OpenAiChat,
        "responses" => Format::OpenAiResponses,
        other => return Err(format!("`{other}` is no format").into()),
    };
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text("What is the weather in Paris, in celsius?")]);
    let remote = remote(format, url, model)?;
    let reply = ask(&remote, &transcript, ToolChoice::Only("get_weather".into())).await?;
    show("forced call", &reply);
    let results = reply.tool_uses().map(|(_, call)| {
        Block::tool_result(&call.id, &Raw::string("21 degrees, sunny"), ErrorFlag::Fine)
    });
    transcript.push_round(&reply.blocks, results.collect())?;
    show("after its result", &ask(&remote, &transcript, ToolChoice::Open).await?);
    Ok(())
}

fn remote(format: Format, url: &str, model: &str) -> Result<Remote, Box<dyn Error>> {
    let endpoint = Endpoint {
        provider: Arc::from("local"),
        format,
        base_url: url.to_owned(),
        credential: Credential::Nothing,
        dialect: Dialect { named_choice: NamedChoice(false), ..Dialect::default() },
        model: Arc::from(model),
    };
    let shared = Shared::new(Arc::new(SystemClock::start()));
    Remote::new(endpoint, shared, Options::default())
        .map_err(|failure| failure.message.to_string().into())
}

async fn ask(
    model: &Remote,
    transcript: &Transcript,
    choice: ToolChoice,
) -> Result<Reply, Box<dyn Error>> {
    let mut settings = Settings::new(ModelSettings::named("local"));
    settings.system = Arc::from("You answer questions about the weather.");
    settings.tools = vec![ToolSpec {
        name: Arc::from("get_weather"),
        description: Arc::from("The weather in a city."),
        input_schema: Raw::parse(
            r#"{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]}},"required":["city","unit"]}"#,
        )?,
    }];
    let request = Request {
        ask: 1,
        settings: Arc::new(settings),
        transcript: transcript.clone(),
        max_tokens: 200,
        choice,
        digest: Arc::from(""),
        task_left_tokens: None,
    };
    model
        .ask(request, Arc::new(Nobody))
        .await
        .map_err(|failure| format!("{:?}: {}", failure.class, failure.message).into())
}

fn show(title: &str, reply: &Reply) {
    println!("{title}: {} {:?} {:?}", reply.stop_reason.as_str(), reply.usage, notices(reply));
    reply.blocks.iter().for_each(|block| println!("  {}", block.raw().text()));
    if let Some(cut) = &reply.cut {
        println!("  cut: {} {}", cut.name, cut.partial);
    }
}

struct Nobody;

impl Stream for Nobody {
    fn text(&self, _piece: &str) {}
    fn thinking(&self, _piece: &str) {}
    fn block(&self, _index: u16, _block: &Block) {}
}
