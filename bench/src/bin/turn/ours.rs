//! The adapter, asked as the driver asks it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use windlass_core::block::{Block, ErrorFlag};
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::request::Request;
use windlass_core::settings::{Model as ModelSettings, Settings, ToolSpec};
use windlass_core::transcript::Transcript;
use windlass_providers::names::{Credential, Dialect, Format};
use windlass_providers::{Endpoint, Options, Remote, Shared};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Model, Stream};

use crate::job::{self, PROMPT, SYSTEM};

#[derive(Clone)]
pub(crate) struct Loop {
    model: Arc<Remote>,
    settings: Arc<Settings>,
    digest: Arc<str>,
}

impl Loop {
    pub(crate) fn new(url: &str) -> Result<Self> {
        let endpoint = Endpoint {
            provider: Arc::from("bench"),
            format: Format::AnthropicMessages,
            base_url: url.to_owned(),
            credential: Credential::Nothing,
            dialect: Dialect::default(),
            model: Arc::from("bench"),
        };
        let shared = Shared::new(Arc::new(SystemClock::start()));
        let model = Remote::new(endpoint, shared, Options::default());
        let model = Arc::new(model.map_err(|failure| anyhow!("{}", failure.message))?);
        let mut settings = Settings::new(ModelSettings::named("bench"));
        settings.system = Arc::from(SYSTEM);
        settings.tools = vec![ToolSpec {
            name: Arc::from("Read"),
            description: Arc::from("Reads a file."),
            input_schema: Raw::parse(job::SCHEMA)?,
        }];
        Ok(Self { model, settings: Arc::new(settings), digest: Arc::from("") })
    }

    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        let mut transcript = Transcript::default();
        transcript.push_prompt(&[Block::text(PROMPT)]);
        for ask in 1..=turns {
            let request = Request {
                ask: u32::try_from(ask)?,
                settings: Arc::clone(&self.settings),
                transcript: transcript.clone(),
                max_tokens: 1_000,
                choice: ToolChoice::Open,
                digest: Arc::clone(&self.digest),
                task_left_tokens: None,
            };
            let asked = self.model.ask(request, Arc::new(Deaf)).await;
            let reply = asked.map_err(|failure| anyhow!("{}", failure.message))?;
            let results = reply.tool_uses().map(|(_, call)| {
                let content = Raw::string(&job::read(file)?);
                Ok(Block::tool_result(&call.id, &content, ErrorFlag::Fine))
            });
            let results = results.collect::<Result<Vec<_>>>()?;
            transcript.push_round(&reply.blocks, results)?;
        }
        Ok(())
    }
}

struct Deaf;

impl Stream for Deaf {
    fn text(&self, _piece: &str) {}
    fn thinking(&self, _piece: &str) {}
    fn block(&self, _index: u16, _block: &Block) {}
}
