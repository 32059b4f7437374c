//! A configuration: the settings, the menus and the bounds of one walk.

use std::sync::Arc;

use windlass_core::limits::Limits;
use windlass_core::permission::{Otherwise, Permissions, Rule};
use windlass_core::raw::Raw;
use windlass_core::settings::{Model, Settings, StopAction, ToolSpec};
use windlass_core::window::Summariser;

use super::advice::Advise;
use super::bounds::Bounds;
use super::menu::{self, Back, Fault, Line, Say, Think};

/// One small world.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// What the first owner comes with, and what an owner with another prompt does.
    pub(crate) settings: [Arc<Settings>; 2],
    pub(crate) hashes: [Arc<str>; 2],
    pub(crate) lines: Vec<Line>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) backs: Vec<Back>,
    pub(crate) says: Vec<Say>,
    pub(crate) advices: Vec<Advise>,
    pub(crate) thoughts: Vec<Think>,
    pub(crate) bounds: Bounds,
    pub(crate) mailing: Mailing,
    pub(crate) billing: Billing,
}

/// Whether mail waits in the box, where a crash finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mailing {
    /// Drained as it arrives.
    AtOnce,
    /// Delivered first, drained later, perhaps several at once.
    Boxed,
}

/// What a reply costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Billing {
    /// Two tokens.
    Little,
    /// What its request was taken for, and one token of output.
    Honest,
    /// All that was set aside for it.
    Full,
}

/// Whose settings: the first owner's, or those of an owner with another prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    #[default]
    First,
    Other,
}

impl Config {
    /// A configuration with small limits, one prompt, and these replies.
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        lines: &[&'static str],
        bounds: Bounds,
    ) -> Self {
        let settings = small_settings();
        Self {
            name,
            about,
            hashes: hashes(&settings),
            settings: pair(settings),
            lines: lines.iter().map(|name| menu::line(name)).collect(),
            faults: Vec::new(),
            backs: vec![Back::Done],
            says: vec![Say::Pass],
            advices: Vec::new(),
            thoughts: Vec::new(),
            bounds,
            mailing: Mailing::AtOnce,
            billing: Billing::Little,
        }
    }

    /// The same with other settings.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = small_settings();
        change(&mut settings);
        self.hashes = hashes(&settings);
        self.settings = pair(settings);
        self
    }

    pub(crate) fn faults(mut self, faults: &[Fault]) -> Self {
        self.faults = faults.to_vec();
        self
    }

    pub(crate) fn backs(mut self, backs: &[Back]) -> Self {
        self.backs = backs.to_vec();
        self
    }

    pub(crate) fn says(mut self, says: &[Say]) -> Self {
        self.says = says.to_vec();
        self
    }

    pub(crate) fn advices(mut self, advices: &[Advise]) -> Self {
        self.advices = advices.to_vec();
        self
    }

    pub(crate) fn thoughts(mut self, thoughts: &[Think]) -> Self {
        self.thoughts = thoughts.to_vec();
        self
    }

    pub(crate) fn boxed(mut self) -> Self {
        self.mailing = Mailing::Boxed;
        self
    }

    pub(crate) fn fully_billed(mut self) -> Self {
        self.billing = Billing::Full;
        self
    }

    pub(crate) fn honestly_billed(mut self) -> Self {
        self.billing = Billing::Honest;
        self
    }

    pub(crate) fn settings_of(&self, owner: Owner) -> &Arc<Settings> {
        let [first, other] = &self.settings;
        match owner {
            Owner::First => first,
            Owner::Other => other,
        }
    }

    pub(crate) fn hash_of(&self, owner: Owner) -> &Arc<str> {
        let [first, other] = &self.hashes;
        match owner {
            Owner::First => first,
            Owner::Other => other,
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
    let mut model = Model::named("m");
    model.max_tokens = 10;
    model.most_output_tokens = 20;
    let mut settings = Settings::new(model);
    settings.system = Arc::from("s");
    settings.tools = vec![tool("read"), tool("pay")];
    settings.rules = rules();
    settings.limits = small_limits();
    settings.times = None;
    settings.window.summariser = Summariser::Nobody;
    settings.stop_map.insert(Arc::from("go on"), StopAction::Continue);
    settings
}

fn tool(name: &str) -> ToolSpec {
    let input_schema = Raw::string("");
    ToolSpec { name: Arc::from(name), description: Arc::from(""), input_schema }
}

fn rules() -> Permissions {
    Permissions {
        deny: rules_of(&["no"]),
        ask: rules_of(&["may_*"]),
        otherwise: Otherwise::Allow,
        ..Permissions::default()
    }
}

pub(crate) fn rules_of(texts: &[&str]) -> Vec<Rule> {
    texts.iter().filter_map(|text| Rule::parse(text).ok()).collect()
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
