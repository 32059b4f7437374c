//! Describes a model for a conversation's settings from its name and the catalog, without a network
//! call.

use std::borrow::Cow;
use std::sync::Arc;

use windlass_core::settings::conversation_settings::{ModelSpec, ToolForcing};

use crate::catalog::capabilities::{
    CapabilityTable, ForcedChoice, ModelCapabilities, ModelKnowledge,
};
use crate::catalog::prices::CacheWriteLifetime;
use crate::catalog::provider_table::{Provider, ProviderError, ProviderTable};
use windlass_core::settings::conversation_settings::CacheLifetime;

/// The output limit requested at first. A reply that needs more is requested again with the full
/// limit, so this bounds what one mistake costs.
const INITIAL_OUTPUT_TOKENS: u64 = 8_192;

/// The output limit requested at first from models that think: thinking is output, too.
const INITIAL_THINKING_OUTPUT_TOKENS: u64 = 16_384;

/// The description of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelDescription {
    /// The model for the settings of a conversation.
    pub model: ModelSpec,
    /// Whether the catalog lists the model. If not, its window and limits are defaults, and it has
    /// no price: a cap in dollars must refuse to start.
    pub is_listed: bool,
    /// The name of the provider that serves it.
    pub provider: Arc<str>,
    /// The source of the model's row.
    pub source: String,
    /// The cheap model of its family, which summarises for it; `None` where none is known.
    pub summary_model: Option<ModelSpec>,
}

/// Describes the model of a name such as `claude-sonnet-4-6`, `openai:gpt-5.5` or `sonnet`.
///
/// # Errors
///
/// Returns a [`ProviderError`] if no provider is known for the name.
pub fn describe_model(
    providers: &ProviderTable,
    capabilities: &CapabilityTable,
    cache: CacheLifetime,
    name: &str,
) -> Result<ModelDescription, ProviderError> {
    let name = &*resolve_family_alias(providers, capabilities, name);
    let (provider, model) = providers.find(name)?;
    let knowledge = capabilities.lookup(model);
    let abilities = knowledge.capabilities();
    let cheap = summary_model_name(provider, name, model, abilities);
    // The cheap model's own cheap model does not matter: only one model summarises.
    let known =
        |cheap: &str| providers.find(cheap).ok().map(|(_, model)| capabilities.lookup(model));
    let cheap = cheap.and_then(|cheap| Some(model_settings(&cheap, &known(&cheap)?, cache)));
    Ok(ModelDescription {
        model: model_settings(name, &knowledge, cache),
        is_listed: knowledge.is_listed(),
        provider: Arc::clone(&provider.name),
        source: abilities.source.clone(),
        summary_model: cheap,
    })
}

/// The settings of a model.
fn model_settings(name: &str, knowledge: &ModelKnowledge, cache: CacheLifetime) -> ModelSpec {
    let abilities = knowledge.capabilities();
    let written = match cache {
        CacheLifetime::OneHour => CacheWriteLifetime::Hour,
        CacheLifetime::Off | CacheLifetime::FiveMinutes => CacheWriteLifetime::Minutes,
    };
    ModelSpec {
        name: Arc::from(name),
        max_tokens: initial_output_tokens(abilities),
        max_output_tokens: abilities.max_output_tokens,
        window_tokens: abilities.window_tokens,
        price: knowledge.prices().map(|prices| prices.to_price(written)),
        forcing: match abilities.forced_choice {
            ForcedChoice::Always | ForcedChoice::UnlessBudgetThinking => ToolForcing::Supported,
            ForcedChoice::Never => ToolForcing::Unsupported,
        },
    }
}

/// The name with a family such as `sonnet` replaced by its newest model. Behind the name of a
/// provider this is done only where the provider is the family's own.
fn resolve_family_alias<'a>(
    providers: &ProviderTable,
    capabilities: &CapabilityTable,
    name: &'a str,
) -> Cow<'a, str> {
    let (prefix, family) = name.rsplit_once(':').unwrap_or(("", name));
    let Some(newest) = capabilities.newest_in_family(family) else { return Cow::Borrowed(name) };
    if prefix.is_empty() {
        return Cow::Owned(newest.to_owned());
    }
    let serves =
        |provider: &Provider| provider.models.iter().any(|begin| newest.starts_with(begin));
    match providers.find(name) {
        Ok((provider, _)) if serves(provider) => Cow::Owned(format!("{prefix}:{newest}")),
        Ok(_) | Err(_) => Cow::Borrowed(name),
    }
}

/// The name of the cheap model at the provider of the model itself: `lab:claude-opus-5` has
/// `lab:claude-haiku-5-5`.
fn summary_model_name(
    provider: &Provider,
    name: &str,
    model: &str,
    abilities: &ModelCapabilities,
) -> Option<String> {
    let cheap = abilities.summary_model.as_deref().filter(|_| !provider.has_custom_model_names)?;
    let before = name.strip_suffix(model).unwrap_or_default();
    let folder = model.rfind('/').and_then(|at| model.get(..=at)).unwrap_or_default();
    Some(format!("{before}{folder}{cheap}"))
}

fn initial_output_tokens(abilities: &ModelCapabilities) -> u64 {
    let usual = if abilities.thinking.is_empty() {
        INITIAL_OUTPUT_TOKENS
    } else {
        INITIAL_THINKING_OUTPUT_TOKENS
    };
    // A small window must have space for a conversation, too.
    usual.min(abilities.max_output_tokens).min(abilities.window_tokens / 4).max(1)
}
