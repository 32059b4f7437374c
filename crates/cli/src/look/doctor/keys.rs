//! Keys, and which model is asked.

use windlass::core::settings::CacheLifetime;
use windlass::models::{Capabilities, Described, Provider, Providers};

use super::{Check, words};
use crate::settle::config::{self, Config};

/// Whether any model can be asked. Keys are never shown.
pub(super) fn check() -> Vec<Check> {
    // A configuration that cannot be read is told elsewhere, with its place.
    let config = config::read().unwrap_or_default();
    let Ok(providers) = Providers::built_in().with_rows(&config.providers) else {
        return Vec::new();
    };
    let variable = |name: &str| std::env::var(name).ok();
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for provider in providers.iter() {
        let is_own = config.providers.contains_key(&*provider.name);
        match (provider.credential(&variable), provider.address(&variable)) {
            (Ok(credential), Ok(at)) if is_own || credential.secret().is_some() => {
                checks.push(Check::ok("key", words::key(&provider.name, &at)));
            }
            (Ok(credential), Err(error)) if credential.secret().is_some() => {
                checks.push(Check::broken("key", error.to_string()));
            }
            (Err(error), _) if is_own => checks.push(Check::broken("key", error.to_string())),
            (Err(error), _) if is_usual(provider) => missing.push(error.to_string()),
            _ => {}
        }
    }
    if checks.is_empty() {
        checks.push(Check::note("key", words::no_key(&missing)));
    }
    checks.push(model(&config, &providers));
    checks
}

/// Whether it is one of those that many people use.
fn is_usual(provider: &Provider) -> bool {
    provider.default_model.is_some()
}

/// The model that would be asked.
fn model(config: &Config, providers: &Providers) -> Check {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = variable("ANTHROPIC_MODEL").map(|name| (name, "ANTHROPIC_MODEL"));
    let named = named.or_else(|| config.model.clone().map(|name| (name, "config.toml")));
    let by_key = || Some((providers.default_model(&variable)?, "the key that is set"));
    let Some((name, says)) = named.or_else(by_key) else {
        return Check::note("model", words::NO_MODEL);
    };
    let capabilities = Capabilities::built_in().with_rows(&config.models);
    let lifetime = config.cache_lifetime.unwrap_or(CacheLifetime::FiveMinutes);
    match windlass::models::describe(providers, &capabilities, lifetime, &name) {
        Ok(Described { model, .. }) => Check::ok("model", words::model(&model, says)),
        Err(error) => Check::broken("model", error.to_string()),
    }
}
