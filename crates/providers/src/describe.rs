//! A model as a conversation's settings have it: made of its name and the tables, without asking
//! anybody.

use std::borrow::Cow;
use std::sync::Arc;

use windlass_core::settings::{Forcing, Model};

use crate::capabilities::{Abilities, Capabilities, ForcedChoice, Knowledge};
use crate::names::{Error, Provider, Providers};
use crate::prices::Written;
use windlass_core::settings::CacheLifetime;

/// Output tokens asked for at first. A reply that needs more is asked for again with all it can
/// have, so this bounds what one mistake costs.
const FIRST_OUTPUT_TOKENS: u64 = 8_192;

/// The same for models that think: thoughts are output, too.
const FIRST_THINKING_TOKENS: u64 = 16_384;

/// A model by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// For the settings of a conversation.
    pub model: Model,
    /// Whether anything is known of it.
    pub standing: Standing,
    /// Who serves it.
    pub provider: Arc<str>,
    /// Where what is known was read.
    pub source: String,
    /// The cheap model of its family, which sums up for it; nothing where none is known.
    pub summary_model: Option<Model>,
}

/// Whether a model is in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Listed,
    /// It is not: its window and limits are defaults, and it has no price. A dollar cap must refuse
    /// to start.
    Unlisted,
}

/// Describes the model of a name such as `claude-sonnet-4-6`, `openai:gpt-5.5` or `sonnet`.
pub fn describe(
    providers: &Providers,
    capabilities: &Capabilities,
    cache: CacheLifetime,
    name: &str,
) -> Result<Described, Error> {
    let name = &*full_name(providers, capabilities, name);
    let (provider, model) = providers.find(name)?;
    let knowledge = capabilities.of(model);
    let abilities = knowledge.abilities();
    let cheap = summary_model(provider, name, model, abilities);
    // Its own cheap model does not matter: only one model sums up.
    let known = |cheap: &str| providers.find(cheap).ok().map(|(_, model)| capabilities.of(model));
    let cheap = cheap.and_then(|cheap| Some(settings_of(&cheap, &known(&cheap)?, cache)));
    Ok(Described {
        model: settings_of(name, &knowledge, cache),
        standing: match knowledge {
            Knowledge::Known(_) => Standing::Listed,
            Knowledge::Unknown(_) => Standing::Unlisted,
        },
        provider: Arc::clone(&provider.name),
        source: abilities.source.clone(),
        summary_model: cheap,
    })
}

/// A model as settings have it.
fn settings_of(name: &str, knowledge: &Knowledge, cache: CacheLifetime) -> Model {
    let abilities = knowledge.abilities();
    let written = match cache {
        CacheLifetime::OneHour => Written::Hour,
        CacheLifetime::Off | CacheLifetime::FiveMinutes => Written::Minutes,
    };
    Model {
        name: Arc::from(name),
        max_tokens: first_output_tokens(abilities),
        most_output_tokens: abilities.most_output_tokens,
        window_tokens: abilities.window_tokens,
        price: knowledge.prices().map(|prices| prices.price(written)),
        forcing: match abilities.forced_choice {
            ForcedChoice::Always | ForcedChoice::UnlessBudgetThinking => Forcing::Possible,
            ForcedChoice::Never => Forcing::Impossible,
        },
    }
}

/// The name with a family such as `sonnet` replaced by its newest model. Behind the name of a
/// provider this is done where the provider is the family's own.
fn full_name<'a>(
    providers: &Providers,
    capabilities: &Capabilities,
    name: &'a str,
) -> Cow<'a, str> {
    let (prefix, family) = name.rsplit_once(':').unwrap_or(("", name));
    let Some(newest) = capabilities.newest_of(family) else { return Cow::Borrowed(name) };
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

/// The name of the cheap model, asked where the model itself is: `lab:claude-opus-5` has
/// `lab:claude-haiku-5-5`.
fn summary_model(
    provider: &Provider,
    name: &str,
    model: &str,
    abilities: &Abilities,
) -> Option<String> {
    let cheap = abilities.summary_model.as_deref().filter(|_| !provider.own_names)?;
    let before = name.strip_suffix(model).unwrap_or_default();
    let folder = model.rfind('/').and_then(|at| model.get(..=at)).unwrap_or_default();
    Some(format!("{before}{folder}{cheap}"))
}

fn first_output_tokens(abilities: &Abilities) -> u64 {
    let usual =
        if abilities.thinking.is_empty() { FIRST_OUTPUT_TOKENS } else { FIRST_THINKING_TOKENS };
    // A small window must have room for a conversation, too.
    usual.min(abilities.most_output_tokens).min(abilities.window_tokens / 4).max(1)
}
