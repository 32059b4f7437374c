//! A model as a conversation's settings have it: made of its name and the tables, without asking
//! anybody.

use std::sync::Arc;

use windlass_core::settings::{Forcing, Model};

use crate::capabilities::{Abilities, Capabilities, ForcedChoice, Knowledge};
use crate::names::{Error, Providers};
use crate::options::CacheLife;
use crate::prices::Written;

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

/// Describes the model of a name such as `claude-sonnet-4-6` or `openai:gpt-5.5`.
pub fn describe(
    providers: &Providers,
    capabilities: &Capabilities,
    cache: CacheLife,
    name: &str,
) -> Result<Described, Error> {
    let (provider, model) = providers.find(name)?;
    let knowledge = capabilities.of(model);
    let abilities = knowledge.abilities();
    let written = match cache {
        CacheLife::OneHour => Written::Hour,
        CacheLife::Off | CacheLife::FiveMinutes => Written::Minutes,
    };
    let described = Model {
        name: Arc::from(name),
        max_tokens: first_output_tokens(abilities),
        most_output_tokens: abilities.most_output_tokens,
        window_tokens: abilities.window_tokens,
        price: knowledge.prices().map(|prices| prices.price(written)),
        forcing: match abilities.forced_choice {
            ForcedChoice::Always | ForcedChoice::UnlessBudgetThinking => Forcing::Possible,
            ForcedChoice::Never => Forcing::Impossible,
        },
    };
    Ok(Described {
        model: described,
        standing: match knowledge {
            Knowledge::Known(_) => Standing::Listed,
            Knowledge::Unknown(_) => Standing::Unlisted,
        },
        provider: Arc::clone(&provider.name),
        source: abilities.source.clone(),
    })
}

fn first_output_tokens(abilities: &Abilities) -> u64 {
    let usual =
        if abilities.thinking.is_empty() { FIRST_OUTPUT_TOKENS } else { FIRST_THINKING_TOKENS };
    // A small window must have room for a conversation, too.
    usual.min(abilities.most_output_tokens).min(abilities.window_tokens / 4).max(1)
}
