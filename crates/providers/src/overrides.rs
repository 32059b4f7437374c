//! What the user says of models and providers: `[models.name]` and `[providers.name]` of a
//! configuration, in whatever format it was read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use windlass_core::settings::Effort;

use crate::capabilities::{
    Abilities, Evidence, ForcedChoice, StopStrings, TemperatureControl, ThinkingKind,
};
use crate::names::{Dialect, Error, Format, Provider};
use crate::prices::Prices;

/// The user's tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// By the model's name at its provider.
    pub models: BTreeMap<String, ModelRow>,
    /// By what stands before the colon of a model's name.
    pub providers: BTreeMap<String, ProviderRow>,
}

/// Tables that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the tables of models and providers cannot be read: {0}; compare it with models.json")]
pub struct BadTable(#[from] serde_json::Error);

impl Overrides {
    /// Reads them from JSON.
    pub fn from_json(json: &str) -> Result<Self, BadTable> {
        Ok(serde_json::from_str(json)?)
    }
}

/// What is different about a model. What is not said stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelRow {
    /// Input and output together.
    pub window_tokens: Option<u64>,
    /// Output alone.
    pub most_output_tokens: Option<u64>,
    /// The ways it can think.
    pub thinking: Option<Vec<ThinkingKind>>,
    /// The efforts it knows.
    pub efforts: Option<Vec<Effort>>,
    /// Whether it can be made to call a tool.
    pub forced_choice: Option<ForcedChoice>,
    /// Who looks out for stop strings.
    pub stop_strings: Option<StopStrings>,
    /// Whether it can be told of a task budget.
    pub task_budget: Option<bool>,
    /// Whether it takes a temperature.
    pub temperature: Option<TemperatureControl>,
    /// The cheap model that sums up for it.
    pub summary_model: Option<String>,
    /// What it costs.
    pub prices: Option<Prices>,
}

impl ModelRow {
    pub(crate) fn put_over(&self, id: &str, abilities: &mut Abilities) {
        let put = self.clone();
        id.clone_into(&mut abilities.id);
        put_if(put.window_tokens, &mut abilities.window_tokens);
        put_if(put.most_output_tokens, &mut abilities.most_output_tokens);
        put_if(put.thinking, &mut abilities.thinking);
        put_if(put.efforts, &mut abilities.efforts);
        put_if(put.forced_choice, &mut abilities.forced_choice);
        put_if(put.stop_strings, &mut abilities.stop_strings);
        put_if(put.task_budget, &mut abilities.task_budget);
        put_if(put.temperature, &mut abilities.temperature);
        put_if(put.summary_model.map(Some), &mut abilities.summary_model);
        put_if(put.prices.map(Some), &mut abilities.prices);
        "the user".clone_into(&mut abilities.source);
        abilities.evidence = Evidence::Nobody;
    }
}

fn put_if<T>(said: Option<T>, place: &mut T) {
    if let Some(said) = said {
        *place = said;
    }
}

/// What is different about a provider, or all there is to say of a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderRow {
    /// What it speaks.
    pub format: Option<Format>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The variable with its key.
    pub key_env: Option<String>,
    /// How it differs from its format.
    pub dialect: Option<Dialect>,
    /// How its models' names begin, for names without a colon.
    pub models: Option<Vec<String>>,
}

impl ProviderRow {
    pub(crate) fn provider(&self, name: &str, known: Option<&Provider>) -> Result<Provider, Error> {
        let missing = |missing| Error::Incomplete { provider: name.to_owned(), missing };
        let format = self.format.or(known.map(|known| known.format));
        let format = format.ok_or_else(|| missing("format"))?;
        let base_url = self.base_url.clone().or_else(|| known.map(|known| known.base_url.clone()));
        let mut provider = known.cloned().unwrap_or_else(|| nobody(name, format));
        provider.format = format;
        provider.base_url = base_url.ok_or_else(|| missing("base_url"))?;
        if let Some(address) = self.base_url.as_ref().filter(|address| !is_address(address)) {
            let (provider, address) = (name.to_owned(), address.clone());
            return Err(Error::BadAddress { provider, address });
        }
        if let Some(key) = &self.key_env {
            provider.key_optional = false;
            (provider.key_env, provider.token_env) = match format {
                Format::AnthropicMessages => (Some(key.clone()), None),
                Format::OpenAiChat | Format::OpenAiResponses => (None, Some(key.clone())),
            };
        }
        put_if(self.dialect, &mut provider.dialect);
        put_if(self.models.clone(), &mut provider.models);
        Ok(provider)
    }
}

fn is_address(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
}

/// A provider nobody has said anything of: it wants no key until one is named.
fn nobody(name: &str, format: Format) -> Provider {
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
        own_names: false,
        default_model: None,
    }
}
