//! Which checks of the core are enabled in a world: classifiers, hooks, gates, time limits,
//! budgets.

use windlass_core::budget::spending::{CapAction, ModelPrice};
use windlass_core::context::Summariser;
use windlass_core::guard::completion_gate::ChecklistItem;
use windlass_core::permission::PermissionMode;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::settings::limits::RunTimeLimits;

use super::listening;
use crate::world::seeded_rng::SeededRng;

/// Two micro-dollars per input token, ten per output token.
const PRICE: ModelPrice = ModelPrice {
    input_usd_micros: 2_000_000,
    output_usd_micros: 10_000_000,
    cache_read_usd_micros: 200_000,
    cache_write_usd_micros: 2_500_000,
    above: None,
};

pub(super) fn draw(rng: &mut SeededRng, settings: &mut Settings) {
    settings.model.window_tokens = rng.pick(&[200_000, 200_000, 4_000, 1_500]);
    settings.hooks.prompt = listening(rng);
    settings.hooks.answer = listening(rng);
    settings.hooks.compaction = listening(rng);
    if rng.chance(50) {
        settings.window.summariser = Summariser::Off;
    }
    if rng.chance(15) {
        settings.rules.mode = PermissionMode::Auto;
    }
    if rng.chance(15) {
        settings.gate.checklist = vec![ChecklistItem { tool: "read".into(), at_least: 1 }];
    }
    if rng.chance(15) {
        settings.gate.judge = Some("the work is done".into());
    }
    settings.times = rng.chance(25).then(|| RunTimeLimits {
        soft_ms: rng.within(300, 1_500),
        hard_ms: rng.within(1_500, 3_000),
        grace_ms: rng.pick(&[0, 100, 500]),
    });
    if rng.chance(50) {
        settings.fallback =
            Some(ModelSpec { max_tokens: 400, ..ModelSpec::with_defaults("other") });
    }
    settings.limits.provider_wait_ms = rng.pick(&[0, 0, 400]);
    budgets(rng, settings);
}

fn budgets(rng: &mut SeededRng, settings: &mut Settings) {
    if rng.chance(20) {
        settings.model.price = Some(PRICE);
        settings.budget.conversation.usd_micros = Some(rng.within(20_000, 200_000));
    }
    if rng.chance(30) {
        settings.budget.at_cap = CapAction::Ask;
    }
}
