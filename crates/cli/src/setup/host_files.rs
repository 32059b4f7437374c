//! What a program or an editor adds: reports about hooks, and files that are open.

use std::sync::Arc;

use windlass::Settings;
use windlass::tools::{HookReport, ToolContext};

use super::HostParts;

/// Receives reports about hooks.
pub(crate) type HookReportSink = Arc<dyn Fn(HookReport<'_>) + Send + Sync>;

impl HostParts {
    /// Applies the rules of the settings, and lets tools use the files that are open in an editor.
    pub(super) fn add_files_to(&self, workplace: ToolContext, settings: &Settings) -> ToolContext {
        let agents = Arc::new(self.agent_tasks.clone());
        let workplace = workplace.with_rules(settings.rules.clone()).with_background_agents(agents);
        match &self.open_files {
            Some(open_files) => workplace.with_open_files(Arc::clone(open_files)),
            None => workplace,
        }
    }
}
