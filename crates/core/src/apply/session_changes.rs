//! Applies changes that hold for the rest of a conversation: permissions, the model and the
//! messages.

use std::sync::Arc;

use imbl::OrdSet;

use super::prompts::command_of;
use super::with_run;
use crate::log::ids::InboxMessageId;
use crate::log::inbox::InboxCommand;
use crate::log::input::Input;
use crate::message::transcript::Transcript;
use crate::permission::PermissionUpdate;
use crate::run::active_run::ActiveModel;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::Settings;
use crate::settings::model_change::ModelOverride;

/// Returns the settings of a run before anything changed in the conversation: those of its owner
/// and of its prompt. Between runs they are those of the last run, which the next one most likely
/// has too.
fn base_settings(c: &Conversation) -> Option<Settings> {
    let owner = c.run_owner.as_ref().or(c.owner_settings.as_ref())?;
    Some(c.run_settings.as_ref().map_or_else(|| (**owner).clone(), |own| own.apply_over(owner)))
}

/// Puts what changed in the conversation over the settings of a run.
pub(super) fn override_settings(c: &Conversation, settings: &mut Settings) {
    settings.rules = c.session_permissions.apply_over(&settings.rules);
    if let Some(over) = &c.model_override {
        over.apply_to(settings);
    }
}

/// Returns whether anything changed in the conversation that settings do not say.
pub(super) fn has_overrides(c: &Conversation) -> bool {
    c.model_override.is_some() || c.session_permissions != Default::default()
}

pub(super) fn apply_permissions_updated(
    c: &mut Conversation,
    update: &PermissionUpdate,
    folder: &Arc<str>,
) {
    let Some(base) = base_settings(c).map(|settings| settings.rules) else { return };
    let known = c.grants.clone();
    c.session_permissions.update(&mut c.grants, update, base.mode, folder);
    for grant in c.grants.iter().filter(|grant| !known.contains(grant)) {
        c.exposure.note_grant(grant);
    }
    let is_mode = matches!(update, PermissionUpdate::SetMode { .. });
    if is_mode {
        // What the model is told about the mode stands before the messages.
        c.end_generation();
        with_run(c, |run| run.original_mode = None);
    }
    let approved_plan = c.run.as_ref().is_some_and(|run| run.original_mode.is_some());
    let Some(settings) = &mut c.settings else { return };
    let mut rules = c.session_permissions.apply_over(&base);
    if approved_plan {
        rules.mode = settings.rules.mode;
    }
    if settings.rules != rules {
        Arc::make_mut(settings).rules = rules;
    }
}

pub(super) fn apply_model_change_requested(
    c: &mut Conversation,
    input: &Input,
    id: InboxMessageId,
) {
    let Some(InboxCommand::SetModel { change }) = command_of(input, id) else { return };
    let Some(base) = base_settings(c) else { return };
    c.model_override = Some(ModelOverride::new(&base, c.model_override.as_ref(), change));
    with_run(c, |run| run.is_model_change_due = true);
}

/// Puts other messages in the place of the conversation's own. What was shown to the model beside
/// them is shown again.
pub(super) fn apply_history_replaced(c: &mut Conversation, input: &Input, id: InboxMessageId) {
    let Some(InboxCommand::ReplaceHistory { messages, .. }) = command_of(input, id) else { return };
    c.transcript.replace_with(Transcript::from_history(messages));
    c.loaded_tools.forget_references();
    c.shown_user_context = Arc::default();
    c.context_sources = OrdSet::new();
    c.shown_journal_version = 0;
    c.last_reply = None;
}

/// Applies the requested model: no model call is in flight, and the next one is for this model.
pub(super) fn apply_model_changed(c: &mut Conversation) {
    c.end_generation();
    let over = c.model_override.clone();
    let base = base_settings(c);
    let (Some(settings), Some(over), Some(mut changed)) = (&mut c.settings, over, base) else {
        return;
    };
    over.apply_to(&mut changed);
    let Settings { model, fallback, temperature, cache, thinking, .. } = changed;
    let max_tokens = model.max_tokens;
    let settings = Arc::make_mut(settings);
    settings.model = model;
    settings.fallback = fallback;
    settings.temperature = temperature;
    settings.cache = cache;
    settings.thinking = thinking;
    with_run(c, |run| {
        run.is_model_change_due = false;
        run.active_model = ActiveModel::Primary;
        run.output_cap_tokens = max_tokens;
        run.counters.failures = 0;
        run.provider_down_since = None;
    });
}
