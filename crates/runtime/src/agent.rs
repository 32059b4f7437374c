//! What drives conversations: the handles to the world on one side, the settings on the other. Data
//! and handles never share a struct with the conversation itself.

use std::sync::Arc;

use windlass_core::settings::Settings;

use crate::ports::{Clock, Hooks, Model, NoHooks, Store};
use crate::toolbox::Toolbox;

/// Handles to the world.
#[derive(Clone)]
pub struct Ports {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The tools.
    pub tools: Toolbox,
    /// Who listens at the hook points.
    pub hooks: Arc<dyn Hooks>,
    /// Where lanes live.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// A registered set of handles and settings that can drive conversations.
#[derive(Clone)]
pub struct Agent {
    /// Handles to the world.
    pub ports: Ports,
    /// What its conversations run with.
    pub settings: Arc<Settings>,
}

impl Agent {
    /// An agent of these parts; the tools' specs become part of the settings.
    #[must_use]
    pub fn new(
        model: Arc<dyn Model>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        tools: Toolbox,
        mut settings: Settings,
    ) -> Self {
        settings.tools = tools.specs();
        let ports = Ports { model, tools, hooks: Arc::new(NoHooks), store, clock };
        Self { ports, settings: Arc::new(settings) }
    }
}
