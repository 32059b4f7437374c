//! What a conversation is to do: a few steps, each one reply of the scripted model.

use crate::dice::Dice;

/// Time a process needs besides what its plan sleeps, roughly: its start, and each step.
const START_MS: u64 = 25;
const STEP_MS: u64 = 8;

/// The job of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) conversation: String,
    pub(crate) steps: Vec<Step>,
}

/// One reply of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Calls, in order.
    Calls(Vec<Call>),
    /// Text cut by the output limit.
    CutText,
    /// A call cut by the output limit: it must never run.
    CutCall,
}

/// One call of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// Repeatable.
    Read { file: u64 },
    /// Once-only.
    Effect(Effect),
}

/// A once-only call: it adds one line to the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Its line in the ledger; no two effects have the same.
    pub(crate) line: String,
    /// It sleeps so long before it takes effect, so that a blow can land there.
    pub(crate) before_ms: u64,
    /// And so long after.
    pub(crate) after_ms: u64,
}

impl Plan {
    /// Draws the plan of the `number`-th conversation.
    pub(crate) fn draw(number: u64, dice: &mut Dice) -> Self {
        let conversation = format!("torture-{number}");
        let steps = dice.between(2, 6);
        let mut steps: Vec<Step> =
            (1..=steps).map(|step| draw_step(&conversation, step, dice)).collect();
        spare_the_ladder(&mut steps);
        spare_the_guards(&mut steps);
        if !steps.iter().any(|step| step.effects().next().is_some()) {
            // A run without effects would prove nothing about them.
            let place = steps.len().saturating_add(1);
            steps.push(Step::Calls(vec![Call::Effect(draw_effect(
                &conversation,
                place as u64,
                0,
                dice,
            ))]));
        }
        Self { conversation, steps }
    }

    /// Every once-only call of it.
    pub(crate) fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.steps.iter().flat_map(Step::effects)
    }

    /// How many files it reads, each once.
    pub(crate) fn files(&self) -> u64 {
        self.steps.iter().flat_map(Step::calls).filter(|call| !call.is_effect()).count() as u64
    }

    /// About how long it takes when nobody disturbs it.
    pub(crate) fn lasts_ms(&self) -> u64 {
        let asleep: u64 = self.effects().map(|effect| effect.before_ms + effect.after_ms).sum();
        START_MS + STEP_MS * self.steps.len() as u64 + asleep
    }
}

impl Step {
    pub(crate) fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.calls().iter().filter_map(|call| match call {
            Call::Read { .. } => None,
            Call::Effect(effect) => Some(effect),
        })
    }

    fn calls(&self) -> &[Call] {
        match self {
            Self::Calls(calls) => calls,
            Self::CutText | Self::CutCall => &[],
        }
    }
}

impl Call {
    fn is_effect(&self) -> bool {
        matches!(self, Self::Effect(_))
    }
}

fn draw_step(conversation: &str, step: u64, dice: &mut Dice) -> Step {
    let mut place = 0;
    let mut effect = |dice: &mut Dice| {
        place += 1;
        Call::Effect(draw_effect(conversation, step, place, dice))
    };
    match dice.between(1, 100) {
        1..=30 => Step::Calls(vec![effect(dice)]),
        31..=50 => Step::Calls(vec![effect(dice), effect(dice)]),
        51..=70 => Step::Calls(vec![READ, effect(dice), READ]),
        71..=88 => Step::Calls((0..dice.between(1, 4)).map(|_| READ).collect()),
        89..=94 => Step::CutText,
        _ => Step::CutCall,
    }
}

/// A run ends, and rightly, when its replies are cut again and again: one cut is enough.
fn spare_the_ladder(steps: &mut [Step]) {
    let cut = |step: &&mut Step| matches!(step, Step::CutText | Step::CutCall);
    for step in steps.iter_mut().filter(cut).skip(1) {
        *step = Step::Calls(vec![READ]);
    }
}

/// A human is asked, and rightly, when the same files are read again and again: each read has a file
/// of its own.
fn spare_the_guards(steps: &mut [Step]) {
    let calls = steps.iter_mut().filter_map(|step| match step {
        Step::Calls(calls) => Some(calls),
        Step::CutText | Step::CutCall => None,
    });
    let mut next = 0..;
    for call in calls.flatten().filter(|call| !call.is_effect()) {
        *call = Call::Read { file: next.next().unwrap_or_default() };
    }
}

/// A read whose file is chosen when the whole plan is known.
const READ: Call = Call::Read { file: 0 };

fn draw_effect(conversation: &str, step: u64, place: u64, dice: &mut Dice) -> Effect {
    let line = format!("{conversation} {step}.{place}");
    let (before_ms, after_ms) = match dice.between(1, 3) {
        1 => (dice.between(20, 100), 0),
        2 => (0, dice.between(20, 100)),
        _ => (0, 0),
    };
    Effect { line, before_ms, after_ms }
}
