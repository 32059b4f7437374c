//! Switches the permission mode of settings that exist.

use windlass::core::message::prompt_texts::EXIT_PLAN_MODE;
use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Tool;
use windlass::tools::ExitPlanModeTool;

/// Sets the mode of later runs, with the tool that ends plan mode.
pub(crate) fn apply_mode(settings: &mut Settings, mode: PermissionMode) {
    settings.rules.mode = mode;
    settings.tools.retain(|tool| &*tool.name != EXIT_PLAN_MODE);
    if mode == PermissionMode::Plan {
        let spec = ExitPlanModeTool.spec();
        let at = settings.tools.iter().position(|tool| tool.name > spec.name);
        settings.tools.insert(at.unwrap_or(settings.tools.len()), spec);
    }
}
