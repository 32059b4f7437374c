//! Applies changes of the tools that servers offer.

use std::sync::Arc;

use crate::log::input::Input;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::{Settings, ToolSpec};

/// Replaces the tools of servers everywhere: for the active run, which may have fewer tools than its
/// owner, and for the runs that follow.
pub(super) fn apply_server_tools_changed(c: &mut Conversation, input: &Input) {
    let Input::ServerToolsOffered { tools } = input else { return };
    let own = c.run_settings.as_ref();
    let offered = tools.iter().filter(|tool| own.is_none_or(|own| own.may_offer(tool)));
    let offered: Vec<ToolSpec> = offered.cloned().collect();
    replace_server_tools(&mut c.settings, &offered);
    replace_server_tools(&mut c.owner_settings, tools);
    replace_server_tools(&mut c.run_owner, tools);
}

fn replace_server_tools(settings: &mut Option<Arc<Settings>>, tools: &[ToolSpec]) {
    if let Some(settings) = settings {
        Arc::make_mut(settings).set_server_tools(tools);
    }
}
