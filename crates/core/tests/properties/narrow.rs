//! Settings whose limits are so narrow that they are met.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::budget::{AtCap, Caps};
use windlass_core::gate::{Need, Output};
use windlass_core::limits::Times;
use windlass_core::permission::{Human, Mode};
use windlass_core::settings::{Listening, Model, Settings};
use windlass_core::window::{Summariser, Switch};

use crate::kit::{price, rule, settings};

fn listening() -> impl Strategy<Value = Listening> {
    prop_oneof![4 => Just(Listening::Nobody), 1 => Just(Listening::Hooked)]
}

fn switch() -> impl Strategy<Value = Switch> {
    prop::sample::select(vec![Switch::On, Switch::On, Switch::Off])
}

fn caps() -> impl Strategy<Value = Caps> {
    let cap =
        || prop::option::weighted(0.1, prop_oneof![1 => 0..3_000_u64, 4 => 3_000..60_000_u64]);
    (cap(), cap()).prop_map(|(tokens, usd_micros)| Caps { tokens, usd_micros })
}

fn counts() -> BoxedStrategy<Settings> {
    let counts = (0..6_u32, 0..40_u32, 0..4_u16, 0..6_u16, 0..4_u32);
    let sizes =
        (prop::option::weighted(0.1, 0..40_000_u64), 0..1_500_u64, 0..6_u32, 0..4_u32, 0..3_u32);
    (counts, sizes)
        .prop_map(|(counts, sizes)| {
            let mut settings = settings();
            let limits = &mut settings.limits;
            (
                limits.tool_rounds,
                limits.model_calls,
                limits.parallel_calls,
                limits.calls_per_reply,
                limits.queued_prompts,
            ) = counts;
            (
                limits.run_tokens,
                limits.result_chars,
                limits.kept_messages,
                limits.truncations,
                limits.reprompts,
            ) = sizes;
            limits.tool_rounds += 2;
            limits.calls_per_reply += 2;
            settings
        })
        .boxed()
}

fn window(of: BoxedStrategy<Settings>) -> BoxedStrategy<Settings> {
    let switches = (switch(), switch(), switch());
    let tokens = prop_oneof![20 => Just(200_000), 20 => 800..3_000_u64, 1 => Just(0)];
    let who = prop::sample::select(vec![
        Summariser::Nobody,
        Summariser::Own,
        Summariser::Model(Model::named("cheap")),
    ]);
    (of, switches, tokens, who, 0..6_u32)
        .prop_map(|(mut settings, (snip, micro, collapse), tokens, summariser, recoveries)| {
            let window = &mut settings.window;
            (window.snip, window.micro, window.collapse) = (snip, micro, collapse);
            window.summariser = summariser;
            settings.model.window_tokens = tokens;
            settings.model.max_tokens = 200;
            settings.limits.recoveries = recoveries;
            settings.limits.least_output_tokens = 10;
            settings
        })
        .boxed()
}

fn hooks(of: BoxedStrategy<Settings>) -> BoxedStrategy<Settings> {
    (of, listening(), listening(), listening(), listening(), listening())
        .prop_map(|(mut settings, before, after, prompt, answer, compaction)| {
            let hooks = &mut settings.hooks;
            (hooks.before_tool, hooks.after_tool) = (before, after);
            (hooks.prompt, hooks.answer, hooks.compaction) = (prompt, answer, compaction);
            settings
        })
        .boxed()
}

fn money(of: BoxedStrategy<Settings>) -> BoxedStrategy<Settings> {
    let at_cap = prop::sample::select(vec![AtCap::Stop, AtCap::Ask]);
    let human = prop::sample::select(vec![Human::Reachable, Human::Reachable, Human::Absent]);
    (of, caps(), caps(), caps(), at_cap, human, prop::bool::weighted(0.9))
        .prop_map(|(mut settings, call, run, conversation, at_cap, human, priced)| {
            let budget = &mut settings.budget;
            (budget.call, budget.run, budget.conversation) = (call, run, conversation);
            budget.at_cap = at_cap;
            settings.rules.human = human;
            settings.model.price = priced.then(price);
            settings.fallback =
                priced.then(|| Model { price: Some(price()), ..Model::named("other") });
            settings.limits.model_retries = 0;
            settings
        })
        .boxed()
}

fn guards(of: BoxedStrategy<Settings>) -> BoxedStrategy<Settings> {
    let times = prop::option::of((0..200_000_u64, 0..60_000_u64, 0..5_000_u64));
    let modes = vec![Mode::Default, Mode::Default, Mode::Auto, Mode::Plan, Mode::DontAsk];
    (of, times, prop::sample::select(modes), 0..8_u8, 0..4_u16)
        .prop_map(|(mut settings, times, mode, answer, children)| {
            settings.times = times.map(|(soft, more, grace_ms)| Times {
                soft_ms: soft,
                hard_ms: soft + more,
                grace_ms,
            });
            settings.rules.mode = mode;
            if mode == Mode::Auto {
                settings.rules.ask.clear();
            }
            settings.limits.children = children;
            settings.rules.allow.push(rule("answer"));
            settings.output = (answer == 0).then(|| Output { tool: Arc::from("answer") });
            settings.gate.command = (answer == 1).then(|| Arc::from("make"));
            if answer == 2 {
                settings.gate.checklist = vec![Need { tool: Arc::from("write"), at_least: 1 }];
            }
            settings
        })
        .boxed()
}

pub(crate) fn narrow() -> BoxedStrategy<Settings> {
    guards(money(hooks(window(counts()))))
}
