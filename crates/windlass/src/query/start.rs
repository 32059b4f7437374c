//! Starts what a query or a client was configured with.

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::HumanAvailability;
use windlass_core::settings::conversation_settings::Settings;
use windlass_messages::InitInfo;
use windlass_providers::catalog::provider_table::ProviderTable;
use windlass_providers::{CallOptions, ModelRegistry, SharedServices};
use windlass_runtime::SystemClock;
use windlass_store::memory::MemoryStore;
use windlass_tools::{ToolContext, select_standard_tools, standard_tool_names};

use super::agent_builder::{AgentBuilder, ModelChoice};
use super::conversation_client::ConversationClient;
use super::query_error::QueryError;
use crate::WindlassBuilder;

impl<P> AgentBuilder<P> {
    pub(super) async fn start(self) -> Result<(P, ConversationClient), QueryError> {
        let Self { prompt, mut builder, model, api_key, tools, cwd, .. } = self;
        let folder = std::fs::canonicalize(&cwd)
            .map_err(|source| QueryError::Folder { folder: cwd, source })?;
        let model = match model {
            ModelChoice::Given => None,
            ModelChoice::ByKey => Some(None),
            ModelChoice::Named(name) => Some(Some(name)),
        };
        if let Some(name) = model {
            builder = add_named_model(builder, name, api_key)?;
        }
        let context = (!tools.is_empty()).then(|| ToolContext::new(&folder));
        if let Some(context) = &context {
            check_tool_names(&tools)?;
            let names = tools.iter().map(String::as_str);
            builder = builder.tools(select_standard_tools(context, names)).workspace(&folder);
        }
        if !self.hooks.is_empty() {
            builder = builder.command_hooks(self.hooks.into_hooks(&folder)?);
        }
        if !self.has_store {
            builder = builder.store(MemoryStore::new());
        }
        let human = match self.approve {
            Some(_) => HumanAvailability::Available,
            None => HumanAvailability::Absent,
        };
        let root: Arc<str> = Arc::from(folder.to_string_lossy());
        let home = std::env::home_dir().unwrap_or_default();
        let home: Arc<str> = Arc::from(home.to_string_lossy());
        let mut settings = None;
        let builder = builder.settings(|own| {
            own.rules.human = human;
            (own.rules.root, own.rules.home) = (root, home);
            settings = Some(own.clone());
        });
        #[cfg(feature = "mcp")]
        let builder = {
            let mut builder = builder;
            builder.connect_mcp_servers().await?;
            builder
        };
        let offered = builder.tool_names();
        let windlass = builder.start().await?;
        let id = self.session.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let session = windlass.session(format!("conversation:{id}"));
        let settings =
            settings.unwrap_or_else(|| Settings::new(crate::ModelSettings::with_defaults("")));
        let init = init_info(&folder, &settings, offered);
        let client =
            ConversationClient::new(windlass, session, settings, init, self.approve, self.messages);
        let client = match context {
            Some(context) => client.with_tool_context(context),
            None => client,
        };
        Ok((prompt, client))
    }
}

/// Adds the model of a provider, and checks that it can be called.
fn add_named_model(
    builder: WindlassBuilder,
    name: Option<String>,
    key: Option<String>,
) -> Result<WindlassBuilder, QueryError> {
    let variables = move |variable: &str| match &key {
        Some(key) if variable.ends_with("_API_KEY") => Some(key.clone()),
        Some(_) | None => std::env::var(variable).ok(),
    };
    let models = ModelRegistry::new(
        SharedServices::new(Arc::new(SystemClock::start())),
        ProviderTable::built_in(),
        CallOptions::default(),
        Arc::new(variables),
    );
    let name = name.or_else(|| models.default_model()).ok_or(QueryError::NoModel)?;
    if let Ok(description) = models.describe(&name) {
        let found = models.get(&description.model.name);
        found.map_err(|failure| QueryError::model_unavailable(&name, &failure))?;
    }
    Ok(builder.model_by_name(models, &name))
}

fn check_tool_names(names: &[String]) -> Result<(), QueryError> {
    let is_known = |name: &String| standard_tool_names().any(|known| known == name);
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => {
            let known = standard_tool_names().collect::<Vec<_>>().join(", ");
            Err(QueryError::UnknownTool { name: unknown.clone(), known })
        }
    }
}

fn init_info(folder: &Path, settings: &Settings, tools: Vec<String>) -> InitInfo {
    let mode = serde_json::to_value(settings.rules.mode).ok();
    InitInfo {
        cwd: folder.display().to_string(),
        tools,
        model: settings.model.name.to_string(),
        permission_mode: mode.and_then(|mode| Some(mode.as_str()?.to_owned())).unwrap_or_default(),
        api_key_source: "none".to_owned(),
        windlass_version: env!("CARGO_PKG_VERSION").to_owned(),
        output_style: "default".to_owned(),
        ..InitInfo::default()
    }
}
