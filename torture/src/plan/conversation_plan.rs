//! The plan of a conversation: a few steps, each one reply of the scripted model.

use crate::plan::seeded_random::SeededRandom;

/// Approximate time that a process needs besides the sleeps of its plan: for its start, and for
/// each step.
const START_MS: u64 = 25;
const STEP_MS: u64 = 8;

/// The plan of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConversationPlan {
    pub(crate) conversation: String,
    pub(crate) steps: Vec<PlanStep>,
}

/// One planned reply of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlanStep {
    /// Calls, in order.
    Calls(Vec<PlannedCall>),
    /// Text truncated by the output limit.
    CutText,
    /// A call truncated by the output limit: it must never run.
    CutCall,
}

/// One call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlannedCall {
    /// A repeatable call.
    Read { file: u64 },
    /// A once-only call.
    Effect(PlannedEffect),
}

/// A once-only call: it adds one line to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedEffect {
    /// Its line in the ledger, which is unique.
    pub(crate) line: String,
    /// Milliseconds that it sleeps before its effect, so that a fault can hit there.
    pub(crate) before_ms: u64,
    /// Milliseconds that it sleeps after its effect.
    pub(crate) after_ms: u64,
    /// The tool that has the effect.
    pub(crate) tool: EffectTool,
}

/// The tool that has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectTool {
    /// A command of the shell.
    Bash,
    /// A tool of an MCP server, which dies with the process that started it.
    Mcp,
}

impl ConversationPlan {
    /// Generates the plan of the `number`-th conversation.
    pub(crate) fn generate(number: u64, random: &mut SeededRandom) -> Self {
        let conversation = format!("torture-{number}");
        let steps = random.between(2, 6);
        let mut steps: Vec<PlanStep> =
            (1..=steps).map(|step| generate_step(&conversation, step, random)).collect();
        keep_one_truncation(&mut steps);
        use_distinct_files(&mut steps);
        if !steps.iter().any(|step| step.effects().next().is_some()) {
            // A run without effects would prove nothing about them.
            let place = steps.len().saturating_add(1);
            steps.push(PlanStep::Calls(vec![PlannedCall::Effect(generate_effect(
                &conversation,
                place as u64,
                0,
                random,
            ))]));
        }
        Self { conversation, steps }
    }

    /// Every once-only call of the plan.
    pub(crate) fn effects(&self) -> impl Iterator<Item = &PlannedEffect> {
        self.steps.iter().flat_map(PlanStep::effects)
    }

    /// Returns whether the plan calls a tool of an MCP server.
    pub(crate) fn uses_mcp(&self) -> bool {
        self.effects().any(|effect| effect.tool == EffectTool::Mcp)
    }

    /// How many files the plan reads, each once.
    pub(crate) fn files(&self) -> u64 {
        self.steps.iter().flat_map(PlanStep::calls).filter(|call| !call.is_effect()).count() as u64
    }

    /// Expected duration without faults, in milliseconds.
    pub(crate) fn expected_ms(&self) -> u64 {
        let asleep: u64 = self.effects().map(|effect| effect.before_ms + effect.after_ms).sum();
        START_MS + STEP_MS * self.steps.len() as u64 + asleep
    }
}

impl PlanStep {
    pub(crate) fn effects(&self) -> impl Iterator<Item = &PlannedEffect> {
        self.calls().iter().filter_map(|call| match call {
            PlannedCall::Read { .. } => None,
            PlannedCall::Effect(effect) => Some(effect),
        })
    }

    fn calls(&self) -> &[PlannedCall] {
        match self {
            Self::Calls(calls) => calls,
            Self::CutText | Self::CutCall => &[],
        }
    }
}

impl PlannedCall {
    fn is_effect(&self) -> bool {
        matches!(self, Self::Effect(_))
    }
}

fn generate_step(conversation: &str, step: u64, random: &mut SeededRandom) -> PlanStep {
    let mut place = 0;
    let mut effect = |random: &mut SeededRandom| {
        place += 1;
        PlannedCall::Effect(generate_effect(conversation, step, place, random))
    };
    match random.between(1, 100) {
        1..=30 => PlanStep::Calls(vec![effect(random)]),
        31..=50 => PlanStep::Calls(vec![effect(random), effect(random)]),
        51..=70 => PlanStep::Calls(vec![ANY_READ, effect(random), ANY_READ]),
        71..=88 => PlanStep::Calls((0..random.between(1, 4)).map(|_| ANY_READ).collect()),
        89..=94 => PlanStep::CutText,
        _ => PlanStep::CutCall,
    }
}

/// Keeps one truncated reply: a run is stopped, and rightly, if its replies are truncated again and
/// again.
fn keep_one_truncation(steps: &mut [PlanStep]) {
    let cut = |step: &&mut PlanStep| matches!(step, PlanStep::CutText | PlanStep::CutCall);
    for step in steps.iter_mut().filter(cut).skip(1) {
        *step = PlanStep::Calls(vec![ANY_READ]);
    }
}

/// Gives each read a file of its own: a human is asked, and rightly, if the same files are read
/// again and again.
fn use_distinct_files(steps: &mut [PlanStep]) {
    let calls = steps.iter_mut().filter_map(|step| match step {
        PlanStep::Calls(calls) => Some(calls),
        PlanStep::CutText | PlanStep::CutCall => None,
    });
    let mut next = 0..;
    for call in calls.flatten().filter(|call| !call.is_effect()) {
        *call = PlannedCall::Read { file: next.next().unwrap_or_default() };
    }
}

/// A read whose file is chosen when the whole plan is known.
const ANY_READ: PlannedCall = PlannedCall::Read { file: 0 };

fn generate_effect(
    conversation: &str,
    step: u64,
    place: u64,
    random: &mut SeededRandom,
) -> PlannedEffect {
    let line = format!("{conversation} {step}.{place}");
    let (before_ms, after_ms) = match random.between(1, 3) {
        1 => (random.between(20, 100), 0),
        2 => (0, random.between(20, 100)),
        _ => (0, 0),
    };
    let tool = if random.chance(40) { EffectTool::Mcp } else { EffectTool::Bash };
    PlannedEffect { line, before_ms, after_ms, tool }
}
