//! Adapters and requests for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{
    ModelSpec as ModelSettings, Settings, StopAction, ToolSpec,
};
use windlass_providers::catalog::provider_table::{Credential, Dialect, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, Secret, SharedServices};
use windlass_runtime::SystemClock;

use crate::format_scenarios::STOP;

/// A key that no provider ever issued.
pub(crate) const KEY: &str = "test-key-0123456789abcdef";

pub(crate) fn shared() -> SharedServices {
    SharedServices::new(Arc::new(SystemClock::start()))
}

pub(crate) fn endpoint(format: WireFormat, url: &str) -> Endpoint {
    let credential = match format {
        WireFormat::AnthropicMessages => Credential::Key(Secret::new(KEY)),
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => Credential::Token(Secret::new(KEY)),
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

pub(crate) fn remote(format: WireFormat, url: &str, options: CallOptions) -> RemoteModel {
    RemoteModel::new(endpoint(format, url), shared(), options).unwrap()
}

pub(crate) fn settings() -> Arc<Settings> {
    let tool = |name: &str| ToolSpec {
        name: Arc::from(name),
        description: Arc::from(format!("the tool {name}")),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    };
    let mut settings = Settings::new(ModelSettings::with_defaults("test-model"));
    settings.system = Arc::from("You are a test.");
    settings.tools = vec![tool("Read"), tool("Write")];
    settings.stop_map = BTreeMap::from([(Arc::from(STOP), StopAction::Finish)]);
    Arc::new(settings)
}

pub(crate) fn request(transcript: Transcript) -> ModelRequest {
    ModelRequest {
        model_call: 1,
        settings: settings(),
        transcript,
        loaded_tools: LoadedTools::default(),
        max_tokens: 1_000,
        choice: ToolChoice::Auto,
        journal_digest: Arc::from(""),
        task_remaining_tokens: None,
    }
}

/// A request with space for thinking, whose settings are changed.
pub(crate) fn request_with(change: impl FnOnce(&mut Settings)) -> ModelRequest {
    let mut request = request(prompt("go"));
    let mut settings = (*request.settings).clone();
    change(&mut settings);
    request.settings = Arc::new(settings);
    request.max_tokens = 4_000;
    request
}

pub(crate) fn prompt(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text(text)]);
    transcript
}

/// Adds a round: one call and its result.
pub(crate) fn push_round(transcript: &mut Transcript, number: usize) {
    let id = format!("call_{number}");
    let input = RawJson::parse(format!(r#"{{"file_path": "{number}.txt"}}"#)).unwrap();
    let reply = [ContentBlock::text("Reading."), ContentBlock::tool_use(&id, "Read", &input)];
    let result =
        ContentBlock::tool_result(&id, &RawJson::string(&"x".repeat(886)), ErrorFlag::Success);
    transcript.push_round(&reply, vec![result]).unwrap();
}

pub(crate) fn joined(pieces: &[bytes::Bytes]) -> String {
    String::from_utf8(pieces.concat()).unwrap()
}
