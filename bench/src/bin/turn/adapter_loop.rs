//! The provider adapter, called as the driver calls it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use windlass_bench::discarding_stream::DiscardingStream;
use windlass_bench::read_job::{self, PROMPT, SYSTEM};
use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{
    ModelSpec as ModelSettings, Settings, ToolSpec,
};
use windlass_providers::catalog::provider_table::{Credential, Dialect, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, SharedServices};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::Model;

#[derive(Clone)]
pub(crate) struct AdapterLoop {
    model: Arc<RemoteModel>,
    settings: Arc<Settings>,
    digest: Arc<str>,
}

impl AdapterLoop {
    pub(crate) fn new(url: &str) -> Result<Self> {
        let endpoint = Endpoint {
            provider: Arc::from("bench"),
            format: WireFormat::AnthropicMessages,
            base_url: url.to_owned(),
            credential: Credential::None,
            dialect: Dialect::default(),
            model: Arc::from("bench"),
        };
        let shared = SharedServices::new(Arc::new(SystemClock::start()));
        let model = RemoteModel::new(endpoint, shared, CallOptions::default());
        let model = Arc::new(model.map_err(|failure| anyhow!("{}", failure.message))?);
        let mut settings = Settings::new(ModelSettings::with_defaults("bench"));
        settings.system = Arc::from(SYSTEM);
        settings.tools = vec![ToolSpec {
            name: Arc::from("Read"),
            description: Arc::from("Reads a file."),
            input_schema: RawJson::parse(read_job::TOOL_SCHEMA)?,
        }];
        Ok(Self { model, settings: Arc::new(settings), digest: Arc::from("") })
    }

    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        let mut transcript = Transcript::default();
        transcript.push_prompt(&[ContentBlock::text(PROMPT)]);
        for ask in 1..=turns {
            let request = ModelRequest {
                model_call: u32::try_from(ask)?,
                settings: Arc::clone(&self.settings),
                transcript: transcript.clone(),
                loaded_tools: LoadedTools::default(),
                max_tokens: 1_000,
                choice: ToolChoice::Auto,
                journal_digest: Arc::clone(&self.digest),
                task_remaining_tokens: None,
            };
            let asked = self.model.call(request, Arc::new(DiscardingStream)).await;
            let reply = asked.map_err(|failure| anyhow!("{}", failure.message))?;
            let results = reply.tool_uses().map(|(_, call)| {
                let content = RawJson::string(&read_job::read_file(file)?);
                Ok(ContentBlock::tool_result(&call.id, &content, ErrorFlag::Success))
            });
            let results = results.collect::<Result<Vec<_>>>()?;
            transcript.push_round(&reply.blocks, results)?;
        }
        Ok(())
    }
}
