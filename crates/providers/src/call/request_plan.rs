//! Plans a request: what the settings ask for, reduced to what the model and its format support.

use std::sync::Arc;

use http::HeaderValue;
use windlass_core::log::record::ToolChoice;
use windlass_core::message::loaded_tools::{OfferedTool, ToolLoading};
use windlass_core::message::request::ModelRequest;
use windlass_core::settings::conversation_settings::{
    CacheLifetime, Effort, Temperature, ToolForcing,
};

use crate::call::call_notice::CallNotice;
use crate::call::call_options::CallOptions;
use crate::call::thinking_plan::{self, ThinkingParam, ThinkingPlanner};
use crate::catalog::capabilities::{
    ForcedChoice, ModelCapabilities, ModelKnowledge, TemperatureSupport,
};
use crate::catalog::provider_table::{Dialect, WireFormat};
use crate::error::call_error::CallError;
use crate::wire::wire_protocol::AttemptOptions;

/// The beta that task budgets require.
const TASK_BUDGET_BETA: &str = "task-budgets-2026-03-13";

/// The beta with which tools may be deferred.
const TOOL_SEARCH_BETA: &str = "advanced-tool-use-2025-11-20";

/// A model, and what is known of it before the call.
#[derive(Debug)]
pub(crate) struct ModelProfile {
    /// The name of the model in requests.
    pub(crate) model: Arc<str>,
    pub(crate) format: WireFormat,
    pub(crate) dialect: Dialect,
    pub(crate) knowledge: ModelKnowledge,
    /// The largest output that may be requested; `None` if unknown.
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) cache_lifetime: CacheLifetime,
}

impl ModelProfile {
    pub(crate) fn new(
        model: Arc<str>,
        (format, dialect): (WireFormat, Dialect),
        options: &CallOptions,
        knowledge: ModelKnowledge,
    ) -> Self {
        // A default is not knowledge: the user may know better.
        let max_output_tokens = knowledge
            .has_known_output_limit()
            .then_some(knowledge.capabilities().max_output_tokens);
        Self {
            model,
            format,
            dialect,
            knowledge,
            max_output_tokens,
            user: options.user.clone(),
            cache_lifetime: options.cache,
        }
    }

    pub(crate) fn capabilities(&self) -> &ModelCapabilities {
        self.knowledge.capabilities()
    }

    /// Returns the output limit to request.
    pub(crate) fn clamp_output_tokens(&self, wanted: u64) -> u64 {
        self.max_output_tokens.map_or(wanted, |limit| wanted.min(limit))
    }
}

/// The plan of one request.
#[derive(Debug)]
pub(crate) struct RequestPlan<'a> {
    pub(crate) profile: &'a ModelProfile,
    pub(crate) request: &'a ModelRequest,
    pub(crate) attempt: AttemptOptions,
    pub(crate) effort: Option<Effort>,
    pub(crate) thinking: ThinkingParam,
    pub(crate) tool_choice: EffectiveToolChoice<'a>,
    pub(crate) tool_loading: ToolLoading,
    pub(crate) task_budget_tokens: Option<u64>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) cache_lifetime: CacheLifetime,
    pub(crate) notices: Vec<CallNotice>,
}

/// The tool choice, as far as it is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectiveToolChoice<'a> {
    /// The model chooses.
    Auto,
    /// The model must not call a tool.
    NoTools,
    /// The model must call this tool, named in the request.
    Named(&'a Arc<str>),
    /// The model must call a tool, and only this one is offered.
    OnlyOffered(&'a Arc<str>),
    /// Only this tool is offered, and the prompt asks the model to call it.
    RequestedInWords(&'a Arc<str>),
}

impl<'a> RequestPlan<'a> {
    pub(crate) fn new(
        profile: &'a ModelProfile,
        request: &'a ModelRequest,
        attempt: AttemptOptions,
    ) -> Self {
        let mut notices = Vec::new();
        let wanted = &request.settings.thinking;
        let capabilities = profile.capabilities();
        let effort = thinking_plan::supported_effort(wanted.effort, capabilities, &mut notices);
        let thinker = ThinkingPlanner { knowledge: &profile.knowledge, format: profile.format };
        let thinking = thinker.plan(wanted.budget_tokens, effort, attempt.max_tokens, &mut notices);
        let thinking = match wanted.display {
            Some(_) => thinker.with_explicit_adaptive(thinking),
            None => thinking,
        };
        let tool_choice = effective_tool_choice(profile, request, thinking, &mut notices);
        let is_messages = profile.format == WireFormat::AnthropicMessages;
        let can_budget = is_messages && capabilities.task_budget;
        let task_budget_tokens = wanted.task_tokens.filter(|_| can_budget);
        if task_budget_tokens != wanted.task_tokens {
            notices.push(CallNotice::TaskBudgetIgnored);
        }
        if !is_messages && !wanted.betas.is_empty() {
            notices.push(CallNotice::BetasIgnored);
        }
        let temperature = effective_temperature(profile, request, thinking, &mut notices);
        let wants_cache = matches!(
            request.settings.cache,
            Some(CacheLifetime::FiveMinutes | CacheLifetime::OneHour)
        );
        // The other formats cache prompts by themselves and accept no lifetime.
        if wants_cache && !is_messages {
            notices.push(CallNotice::CacheLifetimeIgnored);
        }
        let cache_lifetime = request.settings.cache.unwrap_or(profile.cache_lifetime);
        Self {
            profile,
            request,
            attempt,
            effort,
            thinking,
            tool_choice,
            tool_loading: tool_loading(profile, request),
            task_budget_tokens,
            temperature,
            cache_lifetime,
            notices,
        }
    }

    /// The tools that are offered.
    pub(crate) fn offered_tools(&self) -> Vec<OfferedTool<'a>> {
        let mut tools = self.request.offered_tools(self.tool_loading);
        if let Some(only) = self.tool_choice.only_offered_tool() {
            tools.retain(|tool| tool.spec.name == *only);
        }
        tools
    }

    /// The instruction to call the tool, where the model cannot be forced.
    pub(crate) fn tool_directive(&self) -> Option<String> {
        match self.tool_choice {
            EffectiveToolChoice::RequestedInWords(tool) => {
                Some(format!("Call the tool `{tool}` now."))
            }
            EffectiveToolChoice::Auto
            | EffectiveToolChoice::NoTools
            | EffectiveToolChoice::Named(_)
            | EffectiveToolChoice::OnlyOffered(_) => None,
        }
    }

    /// The betas to request, as a header value.
    pub(crate) fn beta_header(&self) -> Result<Option<HeaderValue>, CallError> {
        let budget = self.task_budget_tokens.map(|_| TASK_BUDGET_BETA);
        let named = self.request.settings.thinking.betas.iter().map(|beta| &**beta);
        let deferring = (self.tool_loading == ToolLoading::ByReference).then_some(TOOL_SEARCH_BETA);
        let names: Vec<&str> = named.chain(budget).chain(deferring).collect();
        if names.is_empty() {
            return Ok(None);
        }
        HeaderValue::from_str(&names.join(",")).map(Some).map_err(|_| {
            CallError::Misconfigured(
                "a beta name contains a character that is not allowed in an HTTP header; check the settings"
                    .to_owned(),
            )
        })
    }
}

impl<'a> EffectiveToolChoice<'a> {
    /// The tool that must be called.
    pub(crate) fn required_tool(self) -> Option<&'a Arc<str>> {
        match self {
            Self::Named(tool) | Self::OnlyOffered(tool) | Self::RequestedInWords(tool) => {
                Some(tool)
            }
            Self::Auto | Self::NoTools => None,
        }
    }

    /// The one tool that is offered, if not all are.
    pub(crate) fn only_offered_tool(self) -> Option<&'a Arc<str>> {
        match self {
            Self::OnlyOffered(tool) | Self::RequestedInWords(tool) => Some(tool),
            Self::Auto | Self::NoTools | Self::Named(_) => None,
        }
    }
}

/// The temperature, as far as the model accepts one: most models accept none while they think, and
/// the Messages API has a smaller range.
fn effective_temperature(
    known: &ModelProfile,
    request: &ModelRequest,
    thinking: ThinkingParam,
    notices: &mut Vec<CallNotice>,
) -> Option<Temperature> {
    let wanted = request.settings.temperature?;
    let thinks = matches!(thinking, ThinkingParam::Adaptive | ThinkingParam::Budget { .. });
    let taken = match known.capabilities().temperature {
        TemperatureSupport::Always => true,
        TemperatureSupport::UnlessThinking => !thinks,
        TemperatureSupport::Never => false,
    };
    if !taken {
        notices.push(CallNotice::TemperatureIgnored);
        return None;
    }
    let most = Temperature::new(1.0).ok();
    match most.filter(|most| known.format == WireFormat::AnthropicMessages && wanted > *most) {
        Some(most) => {
            notices.push(CallNotice::TemperatureLowered);
            Some(most)
        }
        None => Some(wanted),
    }
}

fn effective_tool_choice<'a>(
    known: &ModelProfile,
    request: &'a ModelRequest,
    thinking: ThinkingParam,
    notices: &mut Vec<CallNotice>,
) -> EffectiveToolChoice<'a> {
    let tool = match &request.choice {
        ToolChoice::Auto => return EffectiveToolChoice::Auto,
        ToolChoice::NoTools => return EffectiveToolChoice::NoTools,
        ToolChoice::Tool(tool) => tool,
    };
    let is_there = request.settings.tools.iter().any(|offered| offered.name == *tool);
    if is_there && can_force_tool(known, request, thinking) {
        return if known.dialect.supports_named_choice() {
            EffectiveToolChoice::Named(tool)
        } else {
            EffectiveToolChoice::OnlyOffered(tool)
        };
    }
    notices.push(CallNotice::ForcedChoiceUnavailable);
    // A tool that does not exist cannot be requested: the request would be rejected.
    if is_there { EffectiveToolChoice::RequestedInWords(tool) } else { EffectiveToolChoice::Auto }
}

/// Returns how deferred tools are offered. A service rejects references to tools that do not exist
/// any more.
fn tool_loading(known: &ModelProfile, request: &ModelRequest) -> ToolLoading {
    let is_supported =
        known.format == WireFormat::AnthropicMessages && known.capabilities().tool_search;
    if is_supported
        && request.settings.defers_tools()
        && request.loaded_tools.exist_in(&request.settings)
    {
        ToolLoading::ByReference
    } else {
        ToolLoading::ByRequest
    }
}

fn can_force_tool(known: &ModelProfile, request: &ModelRequest, thinking: ThinkingParam) -> bool {
    let here = match known.capabilities().forced_choice {
        ForcedChoice::Always => true,
        ForcedChoice::UnlessBudgetThinking => !matches!(thinking, ThinkingParam::Budget { .. }),
        ForcedChoice::Never => false,
    };
    here && request.settings.model.forcing == ToolForcing::Supported
}
