//! Keys and where models are asked.

use windlass_providers::names::Providers;

use super::{Check, words};
use crate::settle::config;

/// A name of each provider that many people use.
const ASKED: [&str; 2] = ["claude-", "openai:"];

/// Whether any model can be asked. Keys are never shown.
pub(super) fn check() -> Vec<Check> {
    let providers = Providers::built_in();
    let variable = |name: &str| std::env::var(name).ok();
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for model in ASKED {
        let Ok((provider, _)) = providers.find(model) else { continue };
        match provider.credential(&variable) {
            Ok(_) => {
                let at = provider.address(&variable);
                checks.push(Check::ok("key", words::key(&provider.name, &at)));
            }
            Err(error) => missing.push(error.to_string()),
        }
    }
    if checks.is_empty() {
        checks.push(Check::note("key", words::no_key(&missing)));
    }
    let variable = variable("ANTHROPIC_MODEL").filter(|name| !name.is_empty());
    let configured = || config::read().ok().and_then(|config| config.model);
    let model = variable.map(|name| (name, "ANTHROPIC_MODEL"));
    let model = model.or_else(|| configured().map(|name| (name, "config.toml")));
    checks.push(match model {
        Some((model, says)) => Check::ok("model", words::model(&model, says)),
        None => Check::note("model", words::NO_MODEL),
    });
    checks
}
