//! A configuration: the settings, the choices and the bounds of one exploration.

use std::sync::Arc;

use windlass_core::context::Summariser;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{DefaultDecision, PermissionRule, Permissions};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings, StopAction, ToolSpec};
use windlass_core::settings::limits::Limits;

use super::bounds::RemainingChoices;
use super::choices::{
    self, ClassifierChoice, HookChoice, ModelFaultChoice, ReplyChoice, ToolReturnChoice,
};
use super::moves::UpdateChoice;
use super::review_choices::ReviewChoice;

/// The configuration of one small world.
#[derive(Debug)]
pub(crate) struct ExplorerConfig {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Settings of the first owner, and of an owner with another prompt.
    pub(crate) settings: [Arc<Settings>; 2],
    pub(crate) hashes: [Arc<str>; 2],
    pub(crate) lines: Vec<ReplyChoice>,
    pub(crate) faults: Vec<ModelFaultChoice>,
    pub(crate) backs: Vec<ToolReturnChoice>,
    pub(crate) says: Vec<HookChoice>,
    pub(crate) advices: Vec<ReviewChoice>,
    pub(crate) thoughts: Vec<ClassifierChoice>,
    pub(crate) bounds: RemainingChoices,
    pub(crate) mailing: CommandDelivery,
    pub(crate) billing: UsageReporting,
    /// Changes of the permissions that may be commanded.
    pub(crate) updates: Vec<UpdateChoice>,
    /// Whether approvals change arguments and rules, and denials may end the run.
    pub(crate) has_rich_answers: bool,
}

/// Whether commands wait in the inbox, where a crash finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandDelivery {
    /// Read as they arrive.
    AtOnce,
    /// Delivered first, read later, possibly several at once.
    ThroughInbox,
}

/// The usage that a reply reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageReporting {
    /// Two tokens.
    Little,
    /// The estimate of its request, and one token of output.
    Honest,
    /// Everything that was reserved for it.
    Full,
}

/// The owner whose settings are used: the first one, or one with another prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum OwnerChoice {
    #[default]
    First,
    Other,
}

impl ExplorerConfig {
    /// A configuration with small limits, one prompt, and these replies.
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        lines: &[&'static str],
        bounds: RemainingChoices,
    ) -> Self {
        let settings = small_settings();
        Self {
            name,
            about,
            hashes: hashes(&settings),
            settings: pair(settings),
            lines: lines.iter().map(|name| choices::line(name)).collect(),
            faults: Vec::new(),
            backs: vec![ToolReturnChoice::Done],
            says: vec![HookChoice::Pass],
            advices: Vec::new(),
            thoughts: Vec::new(),
            bounds,
            mailing: CommandDelivery::AtOnce,
            billing: UsageReporting::Little,
            updates: Vec::new(),
            has_rich_answers: false,
        }
    }

    /// Returns the configuration with changed settings.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = small_settings();
        change(&mut settings);
        self.hashes = hashes(&settings);
        self.settings = pair(settings);
        self
    }

    pub(crate) fn faults(mut self, faults: &[ModelFaultChoice]) -> Self {
        self.faults = faults.to_vec();
        self
    }

    pub(crate) fn with_tool_returns(mut self, backs: &[ToolReturnChoice]) -> Self {
        self.backs = backs.to_vec();
        self
    }

    pub(crate) fn says(mut self, says: &[HookChoice]) -> Self {
        self.says = says.to_vec();
        self
    }

    pub(crate) fn with_reviews(mut self, advices: &[ReviewChoice]) -> Self {
        self.advices = advices.to_vec();
        self
    }

    pub(crate) fn with_updates(mut self, updates: &[UpdateChoice]) -> Self {
        self.updates = updates.to_vec();
        self
    }

    pub(crate) fn with_rich_answers(mut self) -> Self {
        self.has_rich_answers = true;
        self
    }

    pub(crate) fn thoughts(mut self, thoughts: &[ClassifierChoice]) -> Self {
        self.thoughts = thoughts.to_vec();
        self
    }

    pub(crate) fn boxed(mut self) -> Self {
        self.mailing = CommandDelivery::ThroughInbox;
        self
    }

    pub(crate) fn fully_billed(mut self) -> Self {
        self.billing = UsageReporting::Full;
        self
    }

    pub(crate) fn honestly_billed(mut self) -> Self {
        self.billing = UsageReporting::Honest;
        self
    }

    pub(crate) fn settings_of(&self, owner: OwnerChoice) -> &Arc<Settings> {
        let [first, other] = &self.settings;
        match owner {
            OwnerChoice::First => first,
            OwnerChoice::Other => other,
        }
    }

    pub(crate) fn hash_of(&self, owner: OwnerChoice) -> &Arc<str> {
        let [first, other] = &self.hashes;
        match owner {
            OwnerChoice::First => first,
            OwnerChoice::Other => other,
        }
    }
}

fn pair(settings: Settings) -> [Arc<Settings>; 2] {
    let other = changed(&settings);
    [Arc::new(settings), Arc::new(other)]
}

fn hashes(settings: &Settings) -> [Arc<str>; 2] {
    [settings.prompt_hash(), changed(settings).prompt_hash()]
}

fn changed(settings: &Settings) -> Settings {
    let mut other = settings.clone();
    other.system = Arc::from("o");
    other
}

fn small_settings() -> Settings {
    let mut model = ModelSpec::with_defaults("m");
    model.max_tokens = 10;
    model.max_output_tokens = 20;
    let mut settings = Settings::new(model);
    settings.system = Arc::from("s");
    settings.tools = vec![tool("read"), tool("pay")];
    settings.rules = rules();
    settings.limits = small_limits();
    settings.times = None;
    settings.window.summariser = Summariser::Off;
    settings.stop_map.insert(Arc::from("go on"), StopAction::Continue);
    settings
}

fn tool(name: &str) -> ToolSpec {
    let input_schema = RawJson::string("");
    ToolSpec { name: Arc::from(name), description: Arc::from(""), input_schema }
}

fn rules() -> Permissions {
    Permissions {
        deny: rules_of(&["no"]),
        ask: rules_of(&["may_*"]),
        default_decision: DefaultDecision::Allow,
        ..Permissions::default()
    }
}

pub(crate) fn rules_of(texts: &[&str]) -> Vec<PermissionRule> {
    texts.iter().filter_map(|text| PermissionRule::parse(text).ok()).collect()
}

fn small_limits() -> Limits {
    Limits {
        tool_rounds: 1,
        model_calls: 3,
        run_tokens: None,
        least_output_tokens: 2,
        parallel_calls: 2,
        calls_per_reply: 3,
        result_chars: 100,
        queued_prompts: 1,
        waiting_steers: 1,
        tool_retry_ms: vec![10],
        model_retry_ms: 10,
        model_retry_most_ms: 80,
        model_retries: 1,
        truncations: 2,
        reprompts: 1,
        kept_messages: 1,
        cancel_wait_ms: 100,
        provider_wait_ms: 0,
        ..Limits::default()
    }
}
