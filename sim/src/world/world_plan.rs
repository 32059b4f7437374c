//! The plan for the world of a seed: how large it is, how hostile, and when events happen.

mod judgement;

use windlass_core::permission::{DefaultDecision, PermissionRule, Permissions};
use windlass_core::settings::conversation_settings::{
    DurabilityMode, HookPoints, HookPresence, ModelSpec, Settings,
};
use windlass_core::settings::limits::Limits;
use windlass_runtime::lease::LeaseTimes;

use super::event::{TimedEvent, draw, draw_forgotten_claims};
use super::seeded_rng::SeededRng;

/// The parameters of a world.
pub(crate) struct WorldPlan {
    pub(crate) seed: u64,
    pub(crate) lanes: usize,
    pub(crate) events: Vec<TimedEvent>,
    pub(crate) settings: Settings,
    /// Whether a new process has another system prompt, in per cent.
    pub(crate) drift_percent: u64,
    pub(crate) model: ModelBehaviour,
    pub(crate) tools: ToolBehaviour,
    pub(crate) people: UserBehaviour,
    pub(crate) store: StoreBehaviour,
}

/// How the model behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelBehaviour {
    pub(crate) failure_percent: u64,
    pub(crate) odd_percent: u64,
    pub(crate) early_percent: u64,
    pub(crate) tools_percent: u64,
    /// Whether the reported usage fits the request.
    pub(crate) honest_usage: bool,
    /// Number of text pieces that it streams.
    pub(crate) pieces: u64,
}

/// How tools behave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolBehaviour {
    pub(crate) failure_percent: u64,
    pub(crate) slowest_ms: u64,
}

/// How users behave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserBehaviour {
    pub(crate) slowest_ms: u64,
    pub(crate) wrong_percent: u64,
    pub(crate) silent_percent: u64,
    /// Whether they answer in the end.
    pub(crate) answer_in_the_end: bool,
}

/// How the store behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreBehaviour {
    /// Faults per thousand appends.
    pub(crate) append_faults: u64,
    /// Faults per thousand other operations.
    pub(crate) other_faults: u64,
    pub(crate) delay_percent: u64,
}

/// Leases of a simulated world: short, so that an owner change costs little virtual time.
pub(crate) const LEASE: LeaseTimes = LeaseTimes { heartbeat_ms: 300, expiry_ms: 1_000 };

impl WorldPlan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = SeededRng::new(seed);
        let lanes = usize::try_from(rng.pick(&[1, 1, 1, 2, 2, 3])).unwrap_or(1);
        let mut plan = Self {
            seed,
            lanes,
            events: Vec::new(),
            settings: settings(&mut rng),
            drift_percent: rng.pick(&[0, 0, 0, 20, 50]),
            model: model(&mut rng),
            tools: ToolBehaviour {
                failure_percent: rng.pick(&[0, 10, 30, 60]),
                slowest_ms: rng.pick(&[20, 100, 300, 1_500]),
            },
            people: people(&mut rng),
            store: store(&mut rng),
        };
        plan.events = draw(&mut rng, lanes);
        plan
    }

    /// Adds many claims that the store forgets, each while several processes want the same lane.
    /// They are rare in other worlds, because a claim must be forgotten just when another process
    /// claims the lane too.
    pub(crate) fn with_forgotten_claims(mut self) -> Self {
        draw_forgotten_claims(&mut SeededRng::about(self.seed, "claims"), &mut self.events);
        self
    }

    /// Returns the schedule as text.
    pub(crate) fn schedule(&self) -> Vec<String> {
        self.events.iter().map(|event| format!("{:>6} ms  {}", event.at_ms, event.event)).collect()
    }
}

fn settings(rng: &mut SeededRng) -> Settings {
    let model = ModelSpec {
        max_tokens: rng.pick(&[500, 1_000, 4_000]),
        max_output_tokens: 4_000,
        ..ModelSpec::with_defaults("hostile")
    };
    let mut settings = Settings::new(model);
    settings.system = "You haul.".into();
    settings.rules = Permissions {
        deny: rules_of(&["rm"]),
        ask: rules_of(&["deploy"]),
        default_decision: DefaultDecision::Allow,
        ..Permissions::default()
    };
    settings.limits = limits(rng);
    settings.hooks = HookPoints {
        before_tool: listening(rng),
        after_tool: listening(rng),
        ..HookPoints::default()
    };
    if rng.chance(10) {
        settings.durability = DurabilityMode::Strict;
    }
    judgement::draw(&mut SeededRng::new(rng.clone().next_number()), &mut settings);
    settings
}

fn rules_of(texts: &[&str]) -> Vec<PermissionRule> {
    texts.iter().filter_map(|text| PermissionRule::parse(text).ok()).collect()
}

pub(super) fn listening(rng: &mut SeededRng) -> HookPresence {
    if rng.chance(15) { HookPresence::Present } else { HookPresence::Absent }
}

fn limits(rng: &mut SeededRng) -> Limits {
    Limits {
        tool_rounds: rng.pick(&[1, 3, 5]),
        model_calls: rng.pick(&[3, 6, 12]),
        run_tokens: rng.chance(30).then(|| rng.within(600, 12_000)),
        least_output_tokens: rng.pick(&[32, 256, 1_024]),
        parallel_calls: rng.pick(&[1, 2, 4]),
        calls_per_reply: rng.pick(&[2, 4, 8]),
        result_chars: rng.pick(&[60, 400, 32_000]),
        queued_prompts: rng.pick(&[1, 2, 8]),
        waiting_steers: rng.pick(&[1, 2, 8]),
        tool_retry_ms: vec![20, 60],
        model_retry_ms: 20,
        model_retry_most_ms: 200,
        model_retries: rng.pick(&[1, 2, 5]),
        truncations: rng.pick(&[1, 2, 3]),
        reprompts: rng.pick(&[1, 2]),
        kept_messages: rng.pick(&[1, 2, 4]),
        cancel_wait_ms: rng.pick(&[200, 1_500]),
        provider_wait_ms: 0,
        ..Limits::default()
    }
}

fn model(rng: &mut SeededRng) -> ModelBehaviour {
    ModelBehaviour {
        failure_percent: rng.pick(&[0, 5, 20, 40]),
        odd_percent: rng.pick(&[0, 10, 30, 60]),
        early_percent: rng.pick(&[0, 30, 70]),
        tools_percent: rng.pick(&[30, 60, 90]),
        honest_usage: rng.chance(70),
        pieces: rng.pick(&[0, 0, 2, 2, 8, 300]),
    }
}

fn people(rng: &mut SeededRng) -> UserBehaviour {
    UserBehaviour {
        slowest_ms: rng.pick(&[50, 400, 2_000]),
        wrong_percent: rng.pick(&[0, 20, 50]),
        silent_percent: rng.pick(&[0, 20, 100]),
        answer_in_the_end: rng.chance(85),
    }
}

fn store(rng: &mut SeededRng) -> StoreBehaviour {
    StoreBehaviour {
        append_faults: rng.pick(&[0, 0, 10, 40]),
        other_faults: rng.pick(&[0, 0, 3, 10]),
        delay_percent: rng.pick(&[0, 0, 5, 20]),
    }
}
