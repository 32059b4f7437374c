//! Settings whose limits are so narrow that they are reached.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::budget::spending::{CapAction, SpendingCaps};
use windlass_core::context::{StageSwitch, Summariser};
use windlass_core::guard::completion_gate::{ChecklistItem, StructuredOutputTool};
use windlass_core::permission::{HumanAvailability, PermissionMode};
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec, Settings};
use windlass_core::settings::limits::RunTimeLimits;

use crate::kit::{price, rule, settings};

fn listening() -> impl Strategy<Value = HookPresence> {
    prop_oneof![4 => Just(HookPresence::Absent), 1 => Just(HookPresence::Present)]
}

fn switch() -> impl Strategy<Value = StageSwitch> {
    prop::sample::select(vec![StageSwitch::On, StageSwitch::On, StageSwitch::Off])
}

fn caps() -> impl Strategy<Value = SpendingCaps> {
    let cap =
        || prop::option::weighted(0.1, prop_oneof![1 => 0..3_000_u64, 4 => 3_000..60_000_u64]);
    (cap(), cap()).prop_map(|(tokens, usd_micros)| SpendingCaps { tokens, usd_micros })
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
        Summariser::Off,
        Summariser::OwnModel,
        Summariser::Model(ModelSpec::with_defaults("cheap")),
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
    let at_cap = prop::sample::select(vec![CapAction::Stop, CapAction::Ask]);
    let human = prop::sample::select(vec![
        HumanAvailability::Available,
        HumanAvailability::Available,
        HumanAvailability::Absent,
    ]);
    (of, caps(), caps(), caps(), at_cap, human, prop::bool::weighted(0.9))
        .prop_map(|(mut settings, call, run, conversation, at_cap, human, priced)| {
            let budget = &mut settings.budget;
            (budget.call, budget.run, budget.conversation) = (call, run, conversation);
            budget.at_cap = at_cap;
            settings.rules.human = human;
            settings.model.price = priced.then(price);
            settings.fallback = priced
                .then(|| ModelSpec { price: Some(price()), ..ModelSpec::with_defaults("other") });
            settings.limits.model_retries = 0;
            settings
        })
        .boxed()
}

fn guards(of: BoxedStrategy<Settings>) -> BoxedStrategy<Settings> {
    let times = prop::option::of((0..200_000_u64, 0..60_000_u64, 0..5_000_u64));
    let modes = vec![
        PermissionMode::Default,
        PermissionMode::Default,
        PermissionMode::Auto,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
    ];
    (of, times, prop::sample::select(modes), 0..8_u8, 0..4_u16)
        .prop_map(|(mut settings, times, mode, answer, children)| {
            settings.times = times.map(|(soft, more, grace_ms)| RunTimeLimits {
                soft_ms: soft,
                hard_ms: soft + more,
                grace_ms,
            });
            settings.rules.mode = mode;
            if mode == PermissionMode::Auto {
                settings.rules.ask.clear();
            }
            settings.limits.children = children;
            settings.rules.allow.push(rule("answer"));
            settings.output =
                (answer == 0).then(|| StructuredOutputTool { tool: Arc::from("answer") });
            settings.gate.command = (answer == 1).then(|| Arc::from("make"));
            if answer == 2 {
                settings.gate.checklist =
                    vec![ChecklistItem { tool: Arc::from("write"), at_least: 1 }];
            }
            settings
        })
        .boxed()
}

pub(crate) fn narrow() -> BoxedStrategy<Settings> {
    guards(money(hooks(window(counts()))))
}
