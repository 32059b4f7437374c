//! The user's `[models.NAME]` and `[providers.NAME]` tables of a configuration, in whatever format
//! it was read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use windlass_core::settings::conversation_settings::Effort;

use crate::catalog::capabilities::{
    Evidence, ForcedChoice, ModelCapabilities, StopStringSupport, TemperatureSupport, ThinkingKind,
};
use crate::catalog::prices::TokenPrices;
use crate::catalog::provider_table::{Dialect, Provider, ProviderError, WireFormat};

/// The user's tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CatalogOverrides {
    /// The models, by their name at the provider.
    pub models: BTreeMap<String, ModelOverride>,
    /// The providers, by the part of a model's name before the colon.
    pub providers: BTreeMap<String, ProviderOverride>,
}

/// Tables that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("the [models] and [providers] tables are invalid: {0}; see docs/providers.md for the keys")]
pub struct InvalidOverrides(#[from] serde_json::Error);

impl CatalogOverrides {
    /// Parses the tables from JSON.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidOverrides`] if a key or a value is not valid.
    pub fn from_json(json: &str) -> Result<Self, InvalidOverrides> {
        Ok(serde_json::from_str(json)?)
    }
}

/// What is different about a model. A field that is not set leaves the table's value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOverride {
    /// The context window: input and output together, in tokens.
    pub window_tokens: Option<u64>,
    /// The output limit, in tokens.
    pub max_output_tokens: Option<u64>,
    /// The kinds of thinking that it supports.
    pub thinking: Option<Vec<ThinkingKind>>,
    /// The efforts that it supports.
    pub efforts: Option<Vec<Effort>>,
    /// Whether it can be forced to call a tool.
    pub forced_choice: Option<ForcedChoice>,
    /// Whether stop strings are matched by the server or by the client.
    pub stop_strings: Option<StopStringSupport>,
    /// Whether it supports a task budget.
    pub task_budget: Option<bool>,
    /// Whether it loads deferred tools when a result refers to them.
    pub tool_search: Option<bool>,
    /// Whether it accepts a temperature.
    pub temperature: Option<TemperatureSupport>,
    /// The cheap model that summarises for it.
    pub summary_model: Option<String>,
    /// The prices of the model.
    pub prices: Option<TokenPrices>,
}

impl ModelOverride {
    pub(crate) fn apply_to(&self, id: &str, abilities: &mut ModelCapabilities) {
        let put = self.clone();
        id.clone_into(&mut abilities.id);
        set_if_some(put.window_tokens, &mut abilities.window_tokens);
        set_if_some(put.max_output_tokens, &mut abilities.max_output_tokens);
        set_if_some(put.thinking, &mut abilities.thinking);
        set_if_some(put.efforts, &mut abilities.efforts);
        set_if_some(put.forced_choice, &mut abilities.forced_choice);
        set_if_some(put.stop_strings, &mut abilities.stop_strings);
        set_if_some(put.task_budget, &mut abilities.task_budget);
        set_if_some(put.tool_search, &mut abilities.tool_search);
        set_if_some(put.temperature, &mut abilities.temperature);
        set_if_some(put.summary_model.map(Some), &mut abilities.summary_model);
        set_if_some(put.prices.map(Some), &mut abilities.prices);
        "the user".clone_into(&mut abilities.source);
        abilities.evidence = Evidence::Unverified;
    }
}

fn set_if_some<T>(said: Option<T>, place: &mut T) {
    if let Some(said) = said {
        *place = said;
    }
}

/// What is different about a provider, or the whole description of a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderOverride {
    /// The wire format of the provider.
    pub format: Option<WireFormat>,
    /// The base URL of the provider.
    pub base_url: Option<String>,
    /// The name of the variable with its key.
    pub key_env: Option<String>,
    /// How it differs from its format.
    pub dialect: Option<Dialect>,
    /// The prefixes of its models' names, for names without a colon.
    pub models: Option<Vec<String>>,
}

impl ProviderOverride {
    pub(crate) fn to_provider(
        &self,
        name: &str,
        known: Option<&Provider>,
    ) -> Result<Provider, ProviderError> {
        let missing =
            |missing| ProviderError::IncompleteProvider { provider: name.to_owned(), missing };
        let format = self.format.or(known.map(|known| known.format));
        let format = format.ok_or_else(|| missing("format"))?;
        let base_url = self.base_url.clone().or_else(|| known.map(|known| known.base_url.clone()));
        let mut provider = known.cloned().unwrap_or_else(|| blank_provider(name, format));
        provider.format = format;
        provider.base_url = base_url.ok_or_else(|| missing("base_url"))?;
        if let Some(address) = self.base_url.as_ref().filter(|address| !is_http_url(address)) {
            let (provider, address) = (name.to_owned(), address.clone());
            return Err(ProviderError::InvalidAddress { provider, address });
        }
        if let Some(key) = &self.key_env {
            provider.key_optional = false;
            (provider.key_env, provider.token_env) = match format {
                WireFormat::AnthropicMessages => (Some(key.clone()), None),
                WireFormat::OpenAiChat | WireFormat::OpenAiResponses => (None, Some(key.clone())),
            };
        }
        set_if_some(self.dialect, &mut provider.dialect);
        set_if_some(self.models.clone(), &mut provider.models);
        Ok(provider)
    }
}

fn is_http_url(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
}

/// A provider with defaults only; it needs no key until a key variable is named.
fn blank_provider(name: &str, format: WireFormat) -> Provider {
    Provider {
        name: Arc::from(name),
        format,
        base_url: String::new(),
        base_url_env: None,
        key_env: None,
        token_env: None,
        key_optional: true,
        dialect: Dialect::default(),
        models: Vec::new(),
        path: String::new(),
        has_custom_model_names: false,
        default_model: None,
    }
}
