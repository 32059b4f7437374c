//! Providers and models: what is known of them, where it was read, and which can be asked from here.

use serde::Serialize;
use windlass::models::{Capabilities, Credential, Evidence, Prices, Provider, Providers};

use super::numbers::grouped;
use super::paper::{Ink, Paper};
use crate::settle::config::Config;

/// What `windlass models` lists.
#[derive(Debug)]
pub(crate) struct Catalogue {
    providers: Vec<ProviderLine>,
    models: Vec<ModelLine>,
}

/// A provider.
#[derive(Debug, Serialize)]
struct ProviderLine {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    format: &'static str,
    address: Option<String>,
    key: KeyState,
    key_variables: Vec<String>,
    default_model: Option<String>,
}

/// A model of the table.
#[derive(Debug, Serialize)]
struct ModelLine {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    provider: Option<String>,
    window_tokens: u64,
    max_output_tokens: u64,
    efforts: Vec<windlass::core::settings::Effort>,
    /// Dollars for a million tokens; nothing where the price is unknown.
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

/// Whether a provider can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum KeyState {
    Set,
    Missing,
    NotNeeded,
}

impl KeyState {
    fn of(provider: &Provider, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        match provider.credential(variable) {
            Ok(Credential::Nothing) => Self::NotNeeded,
            Ok(_) => Self::Set,
            Err(_) => Self::Missing,
        }
    }
}

impl Catalogue {
    /// Everything that is known, with what the configuration says.
    pub(crate) fn read(config: &Config) -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let providers = Providers::built_in().with_rows(&config.providers)?;
        let capabilities = Capabilities::built_in().with_rows(&config.models);
        let line = |provider: &Provider| ProviderLine {
            kind: "provider",
            name: provider.name.to_string(),
            format: provider.format.name(),
            address: provider.address(&variable).ok(),
            key: KeyState::of(provider, &variable),
            key_variables: [&provider.key_env, &provider.token_env]
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            default_model: provider.default_model.clone(),
        };
        let models = capabilities.listed().into_iter().map(|known| ModelLine {
            kind: "model",
            name: known.id.clone(),
            provider: providers.find(&known.id).ok().map(|(provider, _)| provider.name.to_string()),
            window_tokens: known.window_tokens,
            max_output_tokens: known.most_output_tokens,
            efforts: known.efforts.clone(),
            prices: known.prices.as_ref().map(in_dollars),
            source: known.source.clone(),
            verified: known.evidence == Evidence::Provider,
        });
        Ok(Self { models: models.collect(), providers: providers.iter().map(line).collect() })
    }

    /// One JSON object for each provider and each model.
    pub(crate) fn json(&self) -> anyhow::Result<Vec<String>> {
        let providers = self.providers.iter().map(serde_json::to_string);
        let models = self.models.iter().map(serde_json::to_string);
        Ok(providers.chain(models).collect::<Result<_, _>>()?)
    }

    /// As people read it.
    pub(crate) fn lines(&self, paper: Paper) -> Vec<String> {
        let mut lines = vec![paper.ink(Ink::Strong, "Providers")];
        lines.extend(self.providers.iter().map(|provider| provider.line(paper)));
        lines.push(String::new());
        lines.push(
            paper.ink(Ink::Strong, "Models (window, output, dollars per million tokens in / out)"),
        );
        lines.extend(self.models.iter().map(ModelLine::line));
        lines.push(String::new());
        lines.push(NOTES.to_owned());
        lines
    }
}

const NOTES: &str = "Any other name works as PROVIDER:NAME, with a window of 128,000 tokens and an unknown price.\n\
     Prices marked ~ are second-hand. Give windows and prices in [models.NAME] of config.toml: see docs/providers.md";

impl ProviderLine {
    fn line(&self, paper: Paper) -> String {
        let variables = self.key_variables.join(" or ");
        let (ink, key) = match self.key {
            KeyState::Set => (Ink::Good, "key set".to_owned()),
            KeyState::NotNeeded => (Ink::Good, "no key needed".to_owned()),
            KeyState::Missing => (Ink::Faint, format!("no key: set {variables}")),
        };
        let address = self.address.as_deref().unwrap_or("no address");
        let default = self.default_model.as_deref();
        let default = default.map_or(String::new(), |name| format!(", default {name}"));
        format!(
            "  {:<12} {} ({}{default}; {address})",
            self.name,
            paper.ink(ink, &key),
            self.format
        )
    }
}

impl ModelLine {
    fn line(&self) -> String {
        let price = match &self.prices {
            Some(prices) => {
                let mark = if self.verified { " " } else { "~" };
                format!("{mark}${} / ${}", prices.input, prices.output)
            }
            None => " price unknown".to_owned(),
        };
        let (window, output) = (grouped(self.window_tokens), grouped(self.max_output_tokens));
        format!("  {:<24} {window:>10} {output:>8}  {price}", self.name)
    }
}

#[expect(clippy::cast_precision_loss, reason = "prices are small numbers, shown to people")]
fn in_dollars(prices: &Prices) -> DollarPrices {
    let dollars = |micros: u64| micros as f64 / 1_000_000.0;
    DollarPrices {
        input: dollars(prices.input),
        output: dollars(prices.output),
        cache_read: dollars(prices.cache_read),
        cache_write: dollars(prices.cache_write),
    }
}
