//! Options and abilities, settled: what is really asked for, and what had to be left out.

use std::sync::Arc;

use crate::capabilities::{Abilities, ForcedChoice, Knowledge, ThinkingKind};
use crate::notice::Notice;
use crate::options::{CacheLife, Effort, Options, Thinking, ToolChoice};

/// A plan, and what it rests on.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) abilities: Abilities,
    /// The most output that may be asked for, if anybody knows.
    pub(crate) most_output_tokens: Option<u64>,
}

impl Planned {
    pub(crate) fn new(model: Arc<str>, options: &Options, knowledge: &Knowledge) -> Self {
        let abilities = knowledge.abilities().clone();
        let plan = Plan::new(model, options, &abilities);
        // A default is no knowledge: the user may know better.
        let known = knowledge.knows_output_limit();
        let most_output_tokens = known.then_some(abilities.most_output_tokens);
        Self { plan, abilities, most_output_tokens }
    }

    /// The output limit to ask for.
    pub(crate) fn output_limit(&self, wanted: u64) -> u64 {
        self.most_output_tokens.map_or(wanted, |most| wanted.min(most))
    }
}

/// What a model is asked with.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The model's name on the wire.
    pub(crate) model: Arc<str>,
    pub(crate) effort: Option<Effort>,
    pub(crate) thinking: Thinking,
    /// Turned off means: only between calls.
    pub(crate) off_between_tools: bool,
    pub(crate) choice: Choice,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) task_budget_tokens: Option<u64>,
    pub(crate) cache: CacheLife,
    pub(crate) notices: Vec<Notice>,
}

/// A tool choice as far as it can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// As the option says.
    Said(ToolChoice),
    /// The one tool is all there is, and the model is asked in words to call it.
    Asked(Arc<str>),
}

impl Plan {
    pub(crate) fn new(model: Arc<str>, options: &Options, abilities: &Abilities) -> Self {
        let mut notices = Vec::new();
        let effort = options.effort.filter(|effort| abilities.efforts.contains(effort));
        if effort != options.effort {
            notices.push(Notice::EffortIgnored);
        }
        let thinking = thinking(options.thinking, abilities);
        if thinking != options.thinking {
            notices.push(Notice::ThinkingIgnored);
        }
        let choice = choice(&options.tool_choice, thinking, abilities);
        if matches!(choice, Choice::Asked(_)) {
            notices.push(Notice::ForcedChoiceUnavailable);
        }
        let task_budget_tokens = options.task_budget_tokens.filter(|_| abilities.task_budget);
        if task_budget_tokens != options.task_budget_tokens {
            notices.push(Notice::TaskBudgetIgnored);
        }
        Self {
            model,
            effort,
            thinking,
            off_between_tools: abilities.thinking.contains(&ThinkingKind::BetweenTools),
            choice,
            user: options.user.clone(),
            task_budget_tokens,
            cache: options.cache,
            notices,
        }
    }

    /// Whether a tool is on offer.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        match &self.choice {
            Choice::Asked(only) => **only == *tool,
            Choice::Said(_) => true,
        }
    }

    /// Whether a reply without a call ignores what was asked.
    pub(crate) fn demands_a_call(&self) -> bool {
        match &self.choice {
            Choice::Asked(_) => true,
            Choice::Said(choice) => choice.demands_a_call(),
        }
    }

    /// What the model is told where it cannot be forced.
    pub(crate) fn directive(&self) -> Option<String> {
        match &self.choice {
            Choice::Asked(tool) => Some(format!("Call the tool `{tool}` now.")),
            Choice::Said(_) => None,
        }
    }
}

/// A model of which nothing is known is asked as the option says: its server knows best.
fn thinking(wanted: Thinking, abilities: &Abilities) -> Thinking {
    let can = |kind| abilities.thinking.contains(&kind);
    match wanted {
        Thinking::Unset => Thinking::Unset,
        Thinking::Off if can(ThinkingKind::Always) => Thinking::Unset,
        Thinking::Off => Thinking::Off,
        Thinking::Adaptive if can(ThinkingKind::Adaptive) => Thinking::Adaptive,
        Thinking::Budget { tokens } if can(ThinkingKind::Budget) => Thinking::Budget { tokens },
        Thinking::Budget { .. } if can(ThinkingKind::Adaptive) => Thinking::Adaptive,
        Thinking::Adaptive | Thinking::Budget { .. } => Thinking::Unset,
    }
}

fn choice(wanted: &ToolChoice, thinking: Thinking, abilities: &Abilities) -> Choice {
    let thinks_by_budget = matches!(thinking, Thinking::Budget { .. });
    let can_force = match abilities.forced_choice {
        ForcedChoice::Always => true,
        ForcedChoice::UnlessBudgetThinking => !thinks_by_budget,
        ForcedChoice::Never => false,
    };
    match wanted {
        ToolChoice::Tool(tool) if !can_force => Choice::Asked(Arc::clone(tool)),
        ToolChoice::Any if !can_force => Choice::Said(ToolChoice::Auto),
        other => Choice::Said(other.clone()),
    }
}
