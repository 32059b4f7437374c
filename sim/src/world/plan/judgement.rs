//! What of the judgement is switched on in a world: classifiers, hooks, gates, times, budgets.

use windlass_core::budget::{AtCap, Price};
use windlass_core::gate::Need;
use windlass_core::limits::Times;
use windlass_core::permission::Mode;
use windlass_core::settings::{Model, Settings};
use windlass_core::window::Summariser;

use super::listening;
use crate::world::dice::Dice;

/// Two micro-dollars for a token that goes in, ten for one that comes out.
const PRICE: Price = Price {
    input_usd_micros: 2_000_000,
    output_usd_micros: 10_000_000,
    cache_read_usd_micros: 200_000,
    cache_write_usd_micros: 2_500_000,
    above: None,
};

pub(super) fn draw(dice: &mut Dice, settings: &mut Settings) {
    settings.model.window_tokens = dice.pick(&[200_000, 200_000, 4_000, 1_500]);
    settings.hooks.prompt = listening(dice);
    settings.hooks.answer = listening(dice);
    settings.hooks.compaction = listening(dice);
    if dice.chance(50) {
        settings.window.summariser = Summariser::Nobody;
    }
    if dice.chance(15) {
        settings.rules.mode = Mode::Auto;
    }
    if dice.chance(15) {
        settings.gate.checklist = vec![Need { tool: "read".into(), at_least: 1 }];
    }
    if dice.chance(15) {
        settings.gate.judge = Some("the work is done".into());
    }
    settings.times = dice.chance(25).then(|| Times {
        soft_ms: dice.within(300, 1_500),
        hard_ms: dice.within(1_500, 3_000),
        grace_ms: dice.pick(&[0, 100, 500]),
    });
    if dice.chance(50) {
        settings.fallback = Some(Model { max_tokens: 400, ..Model::named("other") });
    }
    settings.limits.provider_wait_ms = dice.pick(&[0, 0, 400]);
    budgets(dice, settings);
}

fn budgets(dice: &mut Dice, settings: &mut Settings) {
    if dice.chance(20) {
        settings.model.price = Some(PRICE);
        settings.budget.conversation.usd_micros = Some(dice.within(20_000, 200_000));
    }
    if dice.chance(30) {
        settings.budget.at_cap = AtCap::Ask;
    }
}
