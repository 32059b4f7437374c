//! An agent: the ports and the settings that drive conversations. They are kept apart from the
//! state of the conversation itself.

use std::sync::Arc;

use windlass_core::settings::conversation_settings::Settings;

use crate::ports::{Clock, Hooks, Model, NoHooks, Store};
use crate::tool_registry::ToolRegistry;

/// The ports of an agent to the outside world.
#[derive(Clone)]
pub struct Ports {
    /// The model that is called.
    pub model: Arc<dyn Model>,
    /// The tools that the model may call.
    pub tools: ToolRegistry,
    /// The hooks that are called at the hook points.
    pub hooks: Arc<dyn Hooks>,
    /// The store that holds the lanes.
    pub store: Arc<dyn Store>,
    /// The clock for wall time and timers.
    pub clock: Arc<dyn Clock>,
}

/// A registered set of ports and settings that can drive conversations.
#[derive(Clone)]
pub struct Agent {
    /// The ports to the outside world.
    pub ports: Ports,
    /// The settings that its conversations run with.
    pub settings: Arc<Settings>,
}

impl Agent {
    /// Creates an agent of these parts; the specifications of the tools become part of the
    /// settings.
    #[must_use]
    pub fn new(
        model: Arc<dyn Model>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        tools: ToolRegistry,
        mut settings: Settings,
    ) -> Self {
        settings.tools = tools.specs();
        let ports = Ports { model, tools, hooks: Arc::new(NoHooks), store, clock };
        Self { ports, settings: Arc::new(settings) }
    }

    /// Offers the tools of servers as they are now.
    #[must_use]
    pub(crate) fn with_current_server_tools(mut self) -> Self {
        if self.ports.tools.has_source() {
            let tools = self.ports.tools.server_tools();
            if !self.settings.server_tools().eq(&tools) {
                Arc::make_mut(&mut self.settings).set_server_tools(&tools);
            }
        }
        self
    }
}
