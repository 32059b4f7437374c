//! An agent that children may be: what it is for, what it is told, and which tools it has.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::settings::Settings;
use windlass_runtime::Toolbox;

/// An agent that children may be.
pub struct Definition {
    pub(crate) about: Arc<str>,
    system: Option<Arc<str>>,
    tools: Option<BTreeSet<String>>,
    change: Option<Change>,
}

type Change = Box<dyn FnOnce(&mut Settings) + Send>;

impl Definition {
    /// One that is for this, as the model is told who chooses it.
    #[must_use]
    pub fn new(about: &str) -> Self {
        Self { about: Arc::from(about), system: None, tools: None, change: None }
    }

    /// What it is told before its task; what its parent is told if not said.
    #[must_use]
    pub fn system(mut self, prompt: &str) -> Self {
        self.system = Some(Arc::from(prompt));
        self
    }

    /// The tools it has, of those its parent has; all of them if not said.
    #[must_use]
    pub fn tools(mut self, names: &[&str]) -> Self {
        self.tools = Some(names.iter().map(|name| (*name).to_owned()).collect());
        self
    }

    /// Changes any other setting.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        self.change = Some(Box::new(change));
        self
    }

    pub(crate) fn tools_of(&self, all: &Toolbox) -> Toolbox {
        match &self.tools {
            Some(names) => all.only(|name| names.contains(name)),
            None => all.clone(),
        }
    }

    pub(crate) fn settings_of(self, own: &Settings) -> Settings {
        let mut settings = Settings { output: None, ..own.clone() };
        settings.gate = windlass_core::gate::Gate::default();
        if let Some(system) = self.system {
            settings.system = system;
        }
        if let Some(change) = self.change {
            change(&mut settings);
        }
        settings
    }
}
