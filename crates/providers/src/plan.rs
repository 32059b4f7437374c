//! One call, settled: what is really asked for, and what had to be left out.

use std::sync::Arc;

use http::HeaderValue;
use windlass_core::record::ToolChoice;
use windlass_core::request::Request;
use windlass_core::settings::{CacheLifetime, Effort, Forcing, Temperature, ToolSpec};

use crate::capabilities::{Abilities, ForcedChoice, Knowledge, TemperatureControl};
use crate::fault::Fault;
use crate::names::{Dialect, Format};
use crate::notice::Notice;
use crate::options::Options;
use crate::thinking::{self, Thinker, Thinking};
use crate::wire::How;

/// The beta that task budgets need.
const TASK_BUDGET_BETA: &str = "task-budgets-2026-03-13";

/// A model, and what is known of it before it is asked.
#[derive(Debug)]
pub(crate) struct Known {
    /// Its name on the wire.
    pub(crate) model: Arc<str>,
    pub(crate) format: Format,
    pub(crate) dialect: Dialect,
    pub(crate) abilities: Abilities,
    /// Whether the table lists it.
    pub(crate) listed: bool,
    /// The most output that may be asked for, if anybody knows.
    pub(crate) most_output_tokens: Option<u64>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) cache: CacheLifetime,
}

impl Known {
    pub(crate) fn new(
        model: Arc<str>,
        (format, dialect): (Format, Dialect),
        options: &Options,
        knowledge: &Knowledge,
    ) -> Self {
        let abilities = knowledge.abilities().clone();
        // A default is no knowledge: the user may know better.
        let most_output_tokens =
            knowledge.knows_output_limit().then_some(abilities.most_output_tokens);
        Self {
            model,
            format,
            dialect,
            abilities,
            listed: matches!(knowledge, Knowledge::Known(_)),
            most_output_tokens,
            user: options.user.clone(),
            cache: options.cache,
        }
    }

    /// The output limit to ask for.
    pub(crate) fn output_limit(&self, wanted: u64) -> u64 {
        self.most_output_tokens.map_or(wanted, |most| wanted.min(most))
    }
}

/// What a model is asked with.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) known: &'a Known,
    pub(crate) request: &'a Request,
    pub(crate) how: How,
    pub(crate) effort: Option<Effort>,
    pub(crate) thinking: Thinking,
    pub(crate) choice: Choice<'a>,
    pub(crate) task_tokens: Option<u64>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) cache: CacheLifetime,
    pub(crate) notices: Vec<Notice>,
}

/// A tool choice as far as it can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    /// As the model likes.
    Open,
    /// No tool.
    Nothing,
    /// This tool, by name.
    Named(&'a Arc<str>),
    /// Some tool, and this one is all there is.
    Alone(&'a Arc<str>),
    /// The one tool is all there is, and the model is asked in words to call it.
    Asked(&'a Arc<str>),
}

impl<'a> Plan<'a> {
    pub(crate) fn new(known: &'a Known, request: &'a Request, how: How) -> Self {
        let mut notices = Vec::new();
        let wanted = &request.settings.thinking;
        let abilities = &known.abilities;
        let effort = thinking::effort(wanted.effort, abilities, &mut notices);
        let thinker = Thinker { abilities, listed: known.listed, format: known.format };
        let thinking = thinker.thinking(wanted.budget_tokens, effort, how.max_tokens, &mut notices);
        let choice = choice(known, request, thinking, &mut notices);
        let is_messages = known.format == Format::AnthropicMessages;
        let can_budget = is_messages && abilities.task_budget;
        let task_tokens = wanted.task_tokens.filter(|_| can_budget);
        if task_tokens != wanted.task_tokens {
            notices.push(Notice::TaskBudgetIgnored);
        }
        if !is_messages && !wanted.betas.is_empty() {
            notices.push(Notice::BetasIgnored);
        }
        let temperature = temperature(known, request, thinking, &mut notices);
        let wants_cache = matches!(
            request.settings.cache,
            Some(CacheLifetime::FiveMinutes | CacheLifetime::OneHour)
        );
        // The other formats cache by themselves and cannot be told for how long.
        if wants_cache && !is_messages {
            notices.push(Notice::CacheLifetimeIgnored);
        }
        let cache = request.settings.cache.unwrap_or(known.cache);
        Self {
            known,
            request,
            how,
            effort,
            thinking,
            choice,
            task_tokens,
            temperature,
            cache,
            notices,
        }
    }

    /// The tools on offer.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &'a ToolSpec> {
        let only = self.choice.only();
        self.request
            .settings
            .tools
            .iter()
            .filter(move |tool| only.is_none_or(|only| *only == tool.name))
    }

    /// What the model is told where it cannot be forced.
    pub(crate) fn directive(&self) -> Option<String> {
        match self.choice {
            Choice::Asked(tool) => Some(format!("Call the tool `{tool}` now.")),
            Choice::Open | Choice::Nothing | Choice::Named(_) | Choice::Alone(_) => None,
        }
    }

    /// The betas to ask for, as a header has them.
    pub(crate) fn betas(&self) -> Result<Option<HeaderValue>, Fault> {
        let budget = self.task_tokens.map(|_| TASK_BUDGET_BETA);
        let named = self.request.settings.thinking.betas.iter().map(|beta| &**beta);
        let names: Vec<&str> = named.chain(budget).collect();
        if names.is_empty() {
            return Ok(None);
        }
        HeaderValue::from_str(&names.join(",")).map(Some).map_err(|_| {
            Fault::Misconfigured(
                "the name of a beta has a character no header can hold; check the settings"
                    .to_owned(),
            )
        })
    }
}

impl<'a> Choice<'a> {
    /// The tool that must be called.
    pub(crate) fn demanded(self) -> Option<&'a Arc<str>> {
        match self {
            Self::Named(tool) | Self::Alone(tool) | Self::Asked(tool) => Some(tool),
            Self::Open | Self::Nothing => None,
        }
    }

    /// The one tool on offer, if not all are.
    pub(crate) fn only(self) -> Option<&'a Arc<str>> {
        match self {
            Self::Alone(tool) | Self::Asked(tool) => Some(tool),
            Self::Open | Self::Nothing | Self::Named(_) => None,
        }
    }
}

/// The temperature as far as the model takes one: most that think take none while they do, and the
/// Messages API has a smaller scale.
fn temperature(
    known: &Known,
    request: &Request,
    thinking: Thinking,
    notices: &mut Vec<Notice>,
) -> Option<Temperature> {
    let wanted = request.settings.temperature?;
    let thinks = matches!(thinking, Thinking::Adaptive | Thinking::Budget { .. });
    let taken = match known.abilities.temperature {
        TemperatureControl::Sent => true,
        TemperatureControl::UnlessThinking => !thinks,
        TemperatureControl::Never => false,
    };
    if !taken {
        notices.push(Notice::TemperatureIgnored);
        return None;
    }
    let most = Temperature::new(1.0).ok();
    match most.filter(|most| known.format == Format::AnthropicMessages && wanted > *most) {
        Some(most) => {
            notices.push(Notice::TemperatureLowered);
            Some(most)
        }
        None => Some(wanted),
    }
}

fn choice<'a>(
    known: &Known,
    request: &'a Request,
    thinking: Thinking,
    notices: &mut Vec<Notice>,
) -> Choice<'a> {
    let tool = match &request.choice {
        ToolChoice::Open => return Choice::Open,
        ToolChoice::Nothing => return Choice::Nothing,
        ToolChoice::Only(tool) => tool,
    };
    let is_there = request.settings.tools.iter().any(|offered| offered.name == *tool);
    if is_there && can_force(known, request, thinking) {
        return if known.dialect.takes_named_choice() {
            Choice::Named(tool)
        } else {
            Choice::Alone(tool)
        };
    }
    notices.push(Notice::ForcedChoiceUnavailable);
    // A tool that is not there cannot be asked for, and a request for it would be refused.
    if is_there { Choice::Asked(tool) } else { Choice::Open }
}

fn can_force(known: &Known, request: &Request, thinking: Thinking) -> bool {
    let here = match known.abilities.forced_choice {
        ForcedChoice::Always => true,
        ForcedChoice::UnlessBudgetThinking => !matches!(thinking, Thinking::Budget { .. }),
        ForcedChoice::Never => false,
    };
    here && request.settings.model.forcing == Forcing::Possible
}
