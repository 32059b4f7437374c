//! Adapters and requests for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::block::{Block, ErrorFlag};
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::request::Request;
use windlass_core::settings::{Model as ModelSettings, Settings, StopAction, ToolSpec};
use windlass_core::transcript::Transcript;
use windlass_providers::names::{Credential, Dialect, Format};
use windlass_providers::{Endpoint, Options, Remote, Secret, Shared};
use windlass_runtime::SystemClock;

use crate::scenarios::STOP;

/// A key no provider ever gave out.
pub(crate) const KEY: &str = "test-key-0123456789abcdef";

pub(crate) fn shared() -> Shared {
    Shared::new(Arc::new(SystemClock::start()))
}

pub(crate) fn endpoint(format: Format, url: &str) -> Endpoint {
    let credential = match format {
        Format::AnthropicMessages => Credential::Key(Secret::new(KEY)),
        Format::OpenAiChat | Format::OpenAiResponses => Credential::Token(Secret::new(KEY)),
    };
    Endpoint {
        provider: Arc::from("test"),
        format,
        base_url: url.to_owned(),
        credential,
        dialect: Dialect::default(),
        model: Arc::from("test-model"),
    }
}

pub(crate) fn remote(format: Format, url: &str, options: Options) -> Remote {
    Remote::new(endpoint(format, url), shared(), options).unwrap()
}

pub(crate) fn settings() -> Arc<Settings> {
    let tool = |name: &str| ToolSpec {
        name: Arc::from(name),
        description: Arc::from(format!("the tool {name}")),
        input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
    };
    let mut settings = Settings::new(ModelSettings::named("test-model"));
    settings.system = Arc::from("You are a test.");
    settings.tools = vec![tool("Read"), tool("Write")];
    settings.stop_map = BTreeMap::from([(Arc::from(STOP), StopAction::Finish)]);
    Arc::new(settings)
}

pub(crate) fn request(transcript: Transcript) -> Request {
    Request {
        ask: 1,
        settings: settings(),
        transcript,
        max_tokens: 1_000,
        choice: ToolChoice::Open,
        digest: Arc::from(""),
        task_left_tokens: None,
    }
}

/// A request with room for thoughts whose settings are changed.
pub(crate) fn request_with(change: impl FnOnce(&mut Settings)) -> Request {
    let mut request = request(prompt("go"));
    let mut settings = (*request.settings).clone();
    change(&mut settings);
    request.settings = Arc::new(settings);
    request.max_tokens = 4_000;
    request
}

pub(crate) fn prompt(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text(text)]);
    transcript
}

/// Adds a round: one call and its result.
pub(crate) fn push_round(transcript: &mut Transcript, number: usize) {
    let id = format!("call_{number}");
    let input = Raw::parse(format!(r#"{{"file_path": "{number}.txt"}}"#)).unwrap();
    let reply = [Block::text("Reading."), Block::tool_use(&id, "Read", &input)];
    let result = Block::tool_result(&id, &Raw::string(&"x".repeat(886)), ErrorFlag::Fine);
    transcript.push_round(&reply, vec![result]).unwrap();
}

pub(crate) fn joined(pieces: &[bytes::Bytes]) -> String {
    String::from_utf8(pieces.concat()).unwrap()
}
