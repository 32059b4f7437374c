//! What was given with one prompt and belongs to its run alone.

use std::sync::Arc;

use windlass::core::permission::Human;
use windlass::core::run_settings::{RunBounds, RunModels, RunSettings};
use windlass::core::settings::Settings;

use crate::args::{AgentArgs, PermissionArgs};
use crate::look::story::Story;
use crate::setup::Opened;

/// The flags without what was given for this prompt alone: what another prompt has that this process
/// goes on with.
pub(crate) fn without_rules(args: &PermissionArgs) -> PermissionArgs {
    PermissionArgs {
        allow: Vec::new(),
        deny: Vec::new(),
        permission_mode: None,
        dangerously_skip_permissions: false,
        settings: None,
        ..args.clone()
    }
}

/// The settings of the run that is not over in a conversation, if there is one.
pub(crate) async fn of_open_run(opened: &Opened) -> anyhow::Result<Option<Arc<Settings>>> {
    let lane = opened.store.lane(opened.lane.clone()).await?;
    if lane.is_none_or(|lane| lane.active_run.is_none()) {
        return Ok(None);
    }
    let story = Story::read(opened.store.as_ref(), opened.lane.clone()).await?;
    Ok(story.now.settings)
}

/// What a prompt that is left for a worker brings along: what was given with it. The worker has
/// everything else, and a person to ask or not.
pub(crate) fn given(args: &AgentArgs, settings: &Settings) -> RunSettings {
    let AgentArgs { model, permissions, prompt, limits, .. } = args;
    let rules = !permissions.allow.is_empty()
        || !permissions.deny.is_empty()
        || permissions.permission_mode.is_some()
        || permissions.dangerously_skip_permissions
        || permissions.when_asked.is_some()
        || permissions.settings.is_some();
    let bounds = limits.max_turns.is_some()
        || limits.max_budget_usd.is_some()
        || limits.max_budget_tokens.is_some()
        || limits.profile.is_some()
        || !limits.set.is_empty();
    let models = model.model.is_some()
        || model.fallback_model.is_some()
        || model.max_tokens.is_some()
        || model.temperature.is_some()
        || model.cache_lifetime.is_some();
    // Who leaves a prompt need not know a model.
    let models = models && !settings.model.name.is_empty();
    let thinking = model.effort.is_some()
        || model.max_thinking_tokens.is_some()
        || model.task_budget.is_some()
        || !model.betas.is_empty();
    let system = prompt.system_prompt.is_some() || prompt.append_system_prompt.is_some();
    let all = RunSettings::of(settings);
    let waits = permissions.when_asked.is_none();
    RunSettings {
        system: all.system.filter(|_| system),
        tools: all.tools.filter(|_| permissions.tools.is_some()),
        rules: all.rules.filter(|_| rules).map(|mut rules| {
            if waits {
                rules.human = Human::Reachable;
            }
            rules
        }),
        models: all.models.filter(|_: &RunModels| models),
        thinking: all.thinking.filter(|_| thinking),
        bounds: all.bounds.filter(|_: &RunBounds| bounds),
        answer: all.answer.filter(|_| !model.stop_sequence.is_empty()),
    }
}
