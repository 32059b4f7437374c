//! A change of the model while a conversation goes on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::settings::conversation_settings::{Settings, ThinkingSettings};
use crate::settings::run_settings::RunModels;

/// What changes about the model. A field that is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelChange {
    /// The models from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<RunModels>,
    /// Settings of the model's thinking from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSettings>,
}

impl From<RunModels> for ModelChange {
    fn from(models: RunModels) -> Self {
        Self { models: Some(models), thinking: None }
    }
}

/// A model that replaces the one of the settings, in the active run and in later ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelOverride {
    /// What changed.
    pub change: Arc<ModelChange>,
    /// The name of the model in the settings that were changed. A run whose settings name another
    /// model keeps it: they were chosen later, and for that run.
    pub replaced_model: Arc<str>,
    /// The settings of thinking that were changed.
    pub replaced_thinking: ThinkingSettings,
}

impl ModelOverride {
    /// Returns the override of `base` by `change`; what `change` leaves open is as in the override
    /// before it.
    pub(crate) fn new(base: &Settings, before: Option<&Self>, change: &Arc<ModelChange>) -> Self {
        let earlier = before.filter(|before| before.replaced_model == base.model.name);
        let merged = match earlier {
            Some(earlier) => Arc::new(ModelChange {
                models: change.models.clone().or_else(|| earlier.change.models.clone()),
                thinking: change.thinking.clone().or_else(|| earlier.change.thinking.clone()),
            }),
            None => Arc::clone(change),
        };
        Self {
            change: merged,
            replaced_model: base.model.name.clone(),
            replaced_thinking: base.thinking.clone(),
        }
    }

    /// Applies the override to settings that name the model which it replaces.
    pub(crate) fn apply_to(&self, settings: &mut Settings) {
        if settings.model.name != self.replaced_model {
            return;
        }
        let has_same_thinking = settings.thinking == self.replaced_thinking;
        if let Some(thinking) = self.change.thinking.clone().filter(|_| has_same_thinking) {
            settings.thinking = thinking;
        }
        if let Some(RunModels { model, fallback, further_fallbacks, temperature, cache }) =
            self.change.models.clone()
        {
            settings.model = model;
            settings.fallback = fallback;
            settings.further_fallbacks = further_fallbacks;
            settings.temperature = temperature;
            settings.cache = cache;
        }
    }
}
