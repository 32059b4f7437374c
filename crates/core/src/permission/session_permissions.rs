//! The permissions that changed in a conversation, over those of its settings. They hold for later
//! runs too; a prompt that brings another mode than the one that was changed keeps its own.

use std::sync::Arc;

use super::grant::Grant;
use super::mode::PermissionMode;
use super::policy::Permissions;
use super::rule::PermissionRule;
use super::update::{InvalidUpdate, MAX_ADDED_FOLDERS, PermissionUpdate, RuleBehavior};

/// Maximum number of rules of one behaviour that updates may add to a conversation.
const MAX_SESSION_RULES: usize = 1_000;

/// The permissions that changed in a conversation, except allow rules, which are grants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SessionPermissions {
    /// Deny rules.
    pub deny: Vec<PermissionRule>,
    /// Ask rules.
    pub ask: Vec<PermissionRule>,
    /// The changed mode.
    pub mode: Option<ModeOverride>,
    /// Folders in which tools may work besides those of the settings.
    pub folders: Vec<Arc<str>>,
}

/// A permission mode that replaces the one of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModeOverride {
    /// The mode from now on.
    pub mode: PermissionMode,
    /// The mode of the settings that it replaces. A run whose settings have another mode keeps it:
    /// they were chosen later, and for that run.
    pub replaced: PermissionMode,
}

impl SessionPermissions {
    /// Returns the permissions in force: `base` with what changed in the conversation. Grants are
    /// not part of it; a permission decision looks them up.
    pub(crate) fn apply_over(&self, base: &Permissions) -> Permissions {
        let mut rules = base.clone();
        extend_missing(&mut rules.deny, &self.deny);
        extend_missing(&mut rules.ask, &self.ask);
        extend_missing(&mut rules.folders, &self.folders);
        let over = self.mode.filter(|over| over.replaced == base.mode);
        rules.mode = over.map_or(base.mode, |over| over.mode);
        rules
    }

    /// Makes a change, of these permissions or of the conversation's grants. `base` is the mode of
    /// the settings, and `folder` the one that allow rules for commands are granted for.
    pub(crate) fn update(
        &mut self,
        grants: &mut Vec<Grant>,
        update: &PermissionUpdate,
        base: PermissionMode,
        folder: &Arc<str>,
    ) {
        match update {
            PermissionUpdate::AddRules { behavior, rules } => {
                self.add_rules(grants, *behavior, rules, folder);
            }
            PermissionUpdate::ReplaceRules { behavior, rules } => {
                self.remove_rules(grants, *behavior, |_| true);
                self.add_rules(grants, *behavior, rules, folder);
            }
            PermissionUpdate::RemoveRules { behavior, rules } => {
                self.remove_rules(grants, *behavior, |rule| rules.contains(rule));
            }
            PermissionUpdate::SetMode { mode } => {
                self.mode = Some(ModeOverride { mode: *mode, replaced: base });
            }
            PermissionUpdate::AddFolders { folders } => extend_missing(&mut self.folders, folders),
            PermissionUpdate::RemoveFolders { folders } => {
                self.folders.retain(|folder| !folders.contains(folder));
            }
        }
    }

    fn add_rules(
        &mut self,
        grants: &mut Vec<Grant>,
        behavior: RuleBehavior,
        rules: &[PermissionRule],
        folder: &Arc<str>,
    ) {
        match behavior {
            RuleBehavior::Allow => {
                let grant =
                    |rule: &PermissionRule| Grant { rule: rule.clone(), folder: folder.clone() };
                let granted: Vec<Grant> = rules.iter().map(grant).collect();
                extend_missing(grants, &granted);
            }
            RuleBehavior::Deny => extend_missing(&mut self.deny, rules),
            RuleBehavior::Ask => extend_missing(&mut self.ask, rules),
        }
    }

    fn remove_rules(
        &mut self,
        grants: &mut Vec<Grant>,
        behavior: RuleBehavior,
        is_meant: impl Fn(&PermissionRule) -> bool,
    ) {
        match behavior {
            RuleBehavior::Allow => grants.retain(|grant| !is_meant(&grant.rule)),
            RuleBehavior::Deny => self.deny.retain(|rule| !is_meant(rule)),
            RuleBehavior::Ask => self.ask.retain(|rule| !is_meant(rule)),
        }
    }

    /// Checks that these changes can be made: no list grows beyond its bound, and folders are
    /// absolute paths.
    pub(crate) fn check_updates(
        &self,
        grants: &[Grant],
        updates: &[PermissionUpdate],
    ) -> Result<(), InvalidUpdate> {
        if updates.len() > MAX_SESSION_RULES {
            return Err(InvalidUpdate::TooMany);
        }
        let (mut after, mut grants_after) = (self.clone(), grants.to_vec());
        for update in updates {
            let mut folders = named_folders(update).iter();
            if folders.any(|folder| !folder.starts_with('/')) {
                return Err(InvalidUpdate::RelativeFolder);
            }
            after.update(&mut grants_after, update, PermissionMode::Default, &Arc::default());
        }
        let fits = |before: usize, after: usize, most: usize| after <= most.max(before);
        let all_fit = fits(grants.len(), grants_after.len(), MAX_SESSION_RULES)
            && fits(self.deny.len(), after.deny.len(), MAX_SESSION_RULES)
            && fits(self.ask.len(), after.ask.len(), MAX_SESSION_RULES)
            && fits(self.folders.len(), after.folders.len(), MAX_ADDED_FOLDERS);
        if all_fit { Ok(()) } else { Err(InvalidUpdate::TooMany) }
    }
}

/// Returns the folders that a change names.
fn named_folders(update: &PermissionUpdate) -> &[Arc<str>] {
    match update {
        PermissionUpdate::AddFolders { folders } | PermissionUpdate::RemoveFolders { folders } => {
            folders
        }
        PermissionUpdate::AddRules { .. }
        | PermissionUpdate::ReplaceRules { .. }
        | PermissionUpdate::RemoveRules { .. }
        | PermissionUpdate::SetMode { .. } => &[],
    }
}

/// Adds the items that the list does not have yet.
fn extend_missing<T: Clone + PartialEq>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}
