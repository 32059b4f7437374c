//! What was given with one prompt and belongs to its run alone.

use windlass::core::permission::Human;
use windlass::core::run_settings::{RunControls, RunSettings};
use windlass::core::settings::{Settings, Temperature};
use windlass::core::words::EXIT_PLAN_MODE;

use super::config::{self, Profile};
use super::controls::ModelControls;
use super::sources;
use crate::args::{AgentArgs, LimitArgs, ModelArgs, PermissionArgs, PromptArgs};

/// The flags without what was given for this prompt alone: what another prompt has that this process
/// goes on with.
pub(crate) fn for_other_runs(args: &AgentArgs) -> AgentArgs {
    // Taken apart, so that a new group of flags must be given a place here. What stays says where
    // this process works and how it prints; what it cannot keep apart is refused where another run
    // comes first (`process_flags`).
    let AgentArgs {
        model,
        permissions,
        prompt: _,
        limits: _,
        output,
        store,
        beat_ms,
        lease_ms,
        tools_at_once,
    } = args.clone();
    AgentArgs {
        model: ModelArgs { script: model.script, ..ModelArgs::default() },
        permissions: PermissionArgs {
            workspace: permissions.workspace,
            ..PermissionArgs::default()
        },
        prompt: PromptArgs::default(),
        limits: LimitArgs::default(),
        output,
        store,
        beat_ms,
        lease_ms,
        tools_at_once,
    }
}

/// Whether something was given for this prompt alone.
pub(crate) fn is_given(args: &AgentArgs, others: &AgentArgs) -> bool {
    args.model != others.model
        || args.permissions != others.permissions
        || args.prompt != others.prompt
        || args.limits != others.limits
}

/// The flags that count for everything a process drives and cannot travel with a prompt.
pub(crate) fn process_flags(args: &PermissionArgs) -> Vec<String> {
    let mut flags = Vec::new();
    if !args.add_dir.is_empty() {
        flags.push("--add-dir".to_owned());
    }
    if args.setting_sources.is_some() {
        flags.push("--setting-sources".to_owned());
    }
    // Settings that cannot be read are told by whoever reads them for the run.
    if let Ok(Some(given)) = sources::given(args) {
        let parts = [
            ("hooks", given.hooks.as_object().is_some_and(|hooks| !hooks.is_empty())),
            ("env", !given.env.is_empty()),
            ("additionalDirectories", !given.permissions.additional_directories.is_empty()),
        ];
        let parts = parts.into_iter().filter(|(_, is_given)| *is_given);
        flags.extend(parts.map(|(name, _)| format!("`{name}` in --settings")));
    }
    flags
}

/// The model that was given with a prompt: by its flag, its profile, or its settings.
pub(crate) fn given_model(args: &AgentArgs, profile: &Profile) -> anyhow::Result<Option<String>> {
    let by_profile = || profile.model.clone().filter(|_| args.limits.profile.is_some());
    let by_settings =
        || anyhow::Ok(sources::given(&args.permissions)?.and_then(|given| given.model));
    match args.model.model.clone().or_else(by_profile) {
        Some(name) => Ok(Some(name)),
        None => by_settings(),
    }
}

/// What a prompt that is left for a worker brings along: what was given with it. The worker has
/// everything else, and a person to ask or not.
pub(crate) fn given(args: &AgentArgs, settings: &Settings) -> anyhow::Result<RunSettings> {
    // Taken apart, so that a new flag must be given a place here.
    let AgentArgs {
        model,
        permissions,
        prompt,
        limits,
        output: _,
        store: _,
        beat_ms: _,
        lease_ms: _,
        tools_at_once: _,
    } = args;
    let profile = match limits.profile.as_deref() {
        Some(name) => config::read()?.profile(Some(name))?,
        None => Profile::default(),
    };
    let models = given_model(args, &profile)?.is_some() && !settings.model.name.is_empty();
    let asked = ModelControls::typed(model)?.or(profile.controls());
    let all = RunSettings::of(settings);
    let PermissionArgs {
        allow,
        deny,
        permission_mode,
        dangerously_skip_permissions,
        when_asked,
        tools,
        // The workspace is the conversation's, and the rest is refused or has its effect here.
        workspace: _,
        add_dir: _,
        settings: in_json,
        setting_sources: _,
        strict_settings: _,
    } = permissions;
    let rules = !allow.is_empty()
        || !deny.is_empty()
        || permission_mode.is_some()
        || *dangerously_skip_permissions
        || when_asked.is_some()
        || in_json.is_some();
    let PromptArgs { system_prompt, append_system_prompt, json_schema } = prompt;
    // An end marker that was given is told to the model.
    let stops = asked.stop_sequences.is_some();
    let system = system_prompt.is_some() || stops;
    let answer = stops || json_schema.is_some() || limits.profile.is_some();
    let added = |name: &str| name != EXIT_PLAN_MODE || rules;
    Ok(RunSettings {
        system: all.system.filter(|_| system),
        system_addition: append_system_prompt.as_deref().filter(|_| !system).map(Into::into),
        tools: all.tools.filter(|_| tools.is_some() || !deny.is_empty()),
        added_tools: all.added_tools.into_iter().filter(|tool| added(&tool.name)).collect(),
        rules: all.rules.filter(|_| rules).map(|mut rules| {
            if when_asked.is_none() {
                rules.human = Human::Reachable;
            }
            rules
        }),
        models: all.models.filter(|_| models),
        controls: controls(model, &asked, settings)?.filter(|_| !models),
        thinking: all.thinking.filter(|_| is_thinking_given(&asked)),
        bounds: all.bounds.filter(|_| *limits != LimitArgs::default()),
        answer: all.answer.filter(|_| answer),
    })
}

/// How the worker's model is to be asked.
fn controls(
    args: &ModelArgs,
    asked: &ModelControls,
    settings: &Settings,
) -> anyhow::Result<Option<RunControls>> {
    let fallback = args.fallback_model.as_ref().and(settings.fallback.clone());
    let controls = RunControls {
        max_tokens: asked.max_tokens,
        window_tokens: args.window_tokens,
        fallback,
        temperature: asked.temperature.map(Temperature::new).transpose()?,
        cache: asked.cache_lifetime,
    };
    Ok((controls != RunControls::default()).then_some(controls))
}

fn is_thinking_given(asked: &ModelControls) -> bool {
    asked.effort.is_some()
        || asked.max_thinking_tokens.is_some()
        || asked.task_budget.is_some()
        || asked.betas.is_some()
}
