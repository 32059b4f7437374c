//! Which checks of the core are enabled in a world: classifiers, hooks, gates, time limits,
//! budgets.

use windlass_core::budget::spending::{CapAction, ModelPrice};
use windlass_core::context::Summariser;
use windlass_core::guard::completion_gate::ChecklistItem;
use windlass_core::permission::PermissionMode;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::settings::limits::RunTimeLimits;

use super::listening;
use crate::world::dice::SeededRng;

/// Two micro-dollars per input token, ten per output token.
const PRICE: ModelPrice = ModelPrice {
    input_usd_micros: 2_000_000,
    output_usd_micros: 10_000_000,
    cache_read_usd_micros: 200_000,
    cache_write_usd_micros: 2_500_000,
    above: None,
};

pub(super) fn draw(dice: &mut SeededRng, settings: &mut Settings) {
    settings.model.window_tokens = dice.pick(&[200_000, 200_000, 4_000, 1_500]);
    settings.hooks.prompt = listening(dice);
    settings.hooks.answer = listening(dice);
    settings.hooks.compaction = listening(dice);
    if dice.chance(50) {
        settings.window.summariser = Summariser::Off;
    }
    if dice.chance(15) {
        settings.rules.mode = PermissionMode::Auto;
    }
    if dice.chance(15) {
        settings.gate.checklist = vec![ChecklistItem { tool: "read".into(), at_least: 1 }];
    }
    if dice.chance(15) {
        settings.gate.judge = Some("the work is done".into());
    }
    settings.times = dice.chance(25).then(|| RunTimeLimits {
        soft_ms: dice.within(300, 1_500),
        hard_ms: dice.within(1_500, 3_000),
        grace_ms: dice.pick(&[0, 100, 500]),
    });
    if dice.chance(50) {
        settings.fallback =
            Some(ModelSpec { max_tokens: 400, ..ModelSpec::with_defaults("other") });
    }
    settings.limits.provider_wait_ms = dice.pick(&[0, 0, 400]);
    budgets(dice, settings);
}

fn budgets(dice: &mut SeededRng, settings: &mut Settings) {
    if dice.chance(20) {
        settings.model.price = Some(PRICE);
        settings.budget.conversation.usd_micros = Some(dice.within(20_000, 200_000));
    }
    if dice.chance(30) {
        settings.budget.at_cap = CapAction::Ask;
    }
}
