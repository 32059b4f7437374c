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
    let model = config::read().ok().and_then(|config| config.model);
    checks.push(match model {
        Some(model) => Check::ok("model", words::model(&model)),
        None => Check::ok("model", words::MODELS),
    });
    checks
}
