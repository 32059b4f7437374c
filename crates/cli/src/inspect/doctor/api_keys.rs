//! Checks of API keys, and of the model that would be used.

use windlass::core::settings::conversation_settings::CacheLifetime;
use windlass::models::{CapabilityTable, ModelDescription, Provider, ProviderTable};

use super::DoctorCheck;
use crate::config::config_toml::{self, Config};
use crate::messages::report;

/// Checks whether any model can be called. Keys are never printed.
pub(super) fn check() -> Vec<DoctorCheck> {
    // An unreadable configuration is reported elsewhere, with its path.
    let config = config_toml::read().unwrap_or_default();
    let Ok(providers) = ProviderTable::built_in().with_overrides(&config.providers) else {
        return Vec::new();
    };
    let variable = |name: &str| std::env::var(name).ok();
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for provider in providers.iter() {
        let is_own = config.providers.contains_key(&*provider.name);
        match (provider.resolve_credential(&variable), provider.resolve_base_url(&variable)) {
            (Ok(credential), Ok(at)) if is_own || credential.secret().is_some() => {
                checks.push(DoctorCheck::ok("key", report::doctor::key_set(&provider.name, &at)));
            }
            (Ok(credential), Err(error)) if credential.secret().is_some() => {
                checks.push(DoctorCheck::broken("key", error.to_string()));
            }
            (Err(error), _) if is_own => checks.push(DoctorCheck::broken("key", error.to_string())),
            (Err(error), _) if is_common_provider(provider) => missing.push(error.to_string()),
            _ => {}
        }
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::note("key", report::doctor::no_key(&missing)));
    }
    checks.push(check_model(&config, &providers));
    checks
}

/// Returns whether the provider is one of the widely used ones.
fn is_common_provider(provider: &Provider) -> bool {
    provider.default_model.is_some()
}

/// Checks the model that would be called.
fn check_model(config: &Config, providers: &ProviderTable) -> DoctorCheck {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = variable("ANTHROPIC_MODEL").map(|name| (name, "ANTHROPIC_MODEL"));
    let named = named.or_else(|| config.model.clone().map(|name| (name, "config.toml")));
    let by_key = || Some((providers.default_model(&variable)?, "the key that is set"));
    let Some((name, says)) = named.or_else(by_key) else {
        return DoctorCheck::note("model", report::doctor::NO_MODEL_CHOSEN);
    };
    let capabilities = CapabilityTable::built_in().with_overrides(&config.models);
    let lifetime = config.cache_lifetime.unwrap_or(CacheLifetime::FiveMinutes);
    match windlass::models::describe_model(providers, &capabilities, lifetime, &name) {
        Ok(ModelDescription { model, .. }) => {
            DoctorCheck::ok("model", report::doctor::default_model(&model, says))
        }
        Err(error) => DoctorCheck::broken("model", error.to_string()),
    }
}
