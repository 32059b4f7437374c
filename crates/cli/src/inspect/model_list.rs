//! The list of providers and models: what is known of them, its source, and which can be called
//! from here.

use serde::Serialize;
use windlass::models::{
    CapabilityTable, Credential, Evidence, Provider, ProviderTable, TokenPrices,
};

use crate::config::config_toml::Config;
use crate::terminal::number_format::group_digits;
use crate::terminal::{Color, OutputStyle};

/// The list printed by `windlass models`.
#[derive(Debug)]
pub(crate) struct ModelCatalog {
    providers: Vec<ProviderEntry>,
    models: Vec<ModelEntry>,
}

/// One provider of the list.
#[derive(Debug, Serialize)]
struct ProviderEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    format: &'static str,
    address: Option<String>,
    key: KeyState,
    key_variables: Vec<String>,
    default_model: Option<String>,
}

/// One model of the list.
#[derive(Debug, Serialize)]
struct ModelEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    provider: Option<String>,
    window_tokens: u64,
    max_output_tokens: u64,
    efforts: Vec<windlass::core::settings::conversation_settings::Effort>,
    /// Prices in dollars per million tokens; `None` if unknown.
    prices: Option<DollarPrices>,
    source: String,
    verified: bool,
}

#[derive(Debug, Serialize)]
struct DollarPrices {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// Whether a provider can be called, by its API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum KeyState {
    Set,
    Missing,
    NotNeeded,
}

impl KeyState {
    fn from_provider(provider: &Provider, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        match provider.resolve_credential(variable) {
            Ok(Credential::None) => Self::NotNeeded,
            Ok(_) => Self::Set,
            Err(_) => Self::Missing,
        }
    }
}

impl ModelCatalog {
    /// Reads all known providers and models, with the overrides of the configuration.
    pub(crate) fn read(config: &Config) -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let providers = ProviderTable::built_in().with_overrides(&config.providers)?;
        let capabilities = CapabilityTable::built_in().with_overrides(&config.models);
        let line = |provider: &Provider| ProviderEntry {
            kind: "provider",
            name: provider.name.to_string(),
            format: provider.format.name(),
            address: provider.resolve_base_url(&variable).ok(),
            key: KeyState::from_provider(provider, &variable),
            key_variables: [&provider.key_env, &provider.token_env]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            default_model: provider.default_model.clone(),
        };
        let models = capabilities.all_models().into_iter().map(|known| ModelEntry {
            kind: "model",
            name: known.id.clone(),
            provider: providers.find(&known.id).ok().map(|(provider, _)| provider.name.to_string()),
            window_tokens: known.window_tokens,
            max_output_tokens: known.max_output_tokens,
            efforts: known.efforts.clone(),
            prices: known.prices.as_ref().map(to_dollar_prices),
            source: known.source.clone(),
            verified: known.evidence == Evidence::Provider,
        });
        Ok(Self { models: models.collect(), providers: providers.iter().map(line).collect() })
    }

    /// Serializes one JSON object for each provider and each model.
    pub(crate) fn to_json(&self) -> anyhow::Result<Vec<String>> {
        let providers = self.providers.iter().map(serde_json::to_string);
        let models = self.models.iter().map(serde_json::to_string);
        Ok(providers.chain(models).collect::<Result<_, _>>()?)
    }

    /// Renders the list as lines of text.
    pub(crate) fn to_lines(&self, style: OutputStyle) -> Vec<String> {
        let mut lines = vec![style.paint(Color::Bold, "Providers")];
        lines.extend(self.providers.iter().map(|provider| provider.to_line(style)));
        lines.push(String::new());
        lines.push(
            style
                .paint(Color::Bold, "Models (window, output, dollars per million tokens in / out)"),
        );
        lines.extend(self.models.iter().map(ModelEntry::to_line));
        lines.push(String::new());
        lines.push(TABLE_NOTES.to_owned());
        lines
    }
}

const TABLE_NOTES: &str = "Any other name works as PROVIDER:NAME, with a window of 128,000 tokens and an unknown price.\n\
     Prices marked ~ are not from the provider. Override windows and prices in [models.NAME] of config.toml, see docs/providers.md";

impl ProviderEntry {
    fn to_line(&self, style: OutputStyle) -> String {
        let variables = self.key_variables.join(" or ");
        let (ink, key) = match self.key {
            KeyState::Set => (Color::Green, "key set".to_owned()),
            KeyState::NotNeeded => (Color::Green, "no key needed".to_owned()),
            KeyState::Missing => (Color::Dim, format!("no key: set {variables}")),
        };
        let address = self.address.as_deref().unwrap_or("no address");
        let default = self.default_model.as_deref();
        let default = default.map_or(String::new(), |name| format!(", default {name}"));
        format!(
            "  {:<12} {} ({}{default}; {address})",
            self.name,
            style.paint(ink, &key),
            self.format
        )
    }
}

impl ModelEntry {
    fn to_line(&self) -> String {
        let price = match &self.prices {
            Some(prices) => {
                let mark = if self.verified { " " } else { "~" };
                format!("{mark}${} / ${}", prices.input, prices.output)
            }
            None => " price unknown".to_owned(),
        };
        let (window, output) =
            (group_digits(self.window_tokens), group_digits(self.max_output_tokens));
        format!("  {:<24} {window:>10} {output:>8}  {price}", self.name)
    }
}

#[expect(clippy::cast_precision_loss, reason = "prices are small numbers, shown to people")]
fn to_dollar_prices(prices: &TokenPrices) -> DollarPrices {
    let dollars = |micros: u64| micros as f64 / 1_000_000.0;
    DollarPrices {
        input: dollars(prices.input),
        output: dollars(prices.output),
        cache_read: dollars(prices.cache_read),
        cache_write: dollars(prices.cache_write),
    }
}
