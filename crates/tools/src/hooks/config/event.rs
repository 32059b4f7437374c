//! The events that hooks can be configured for.

/// Default timeout of a hook.
pub(in crate::hooks) const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// Maximum timeout of a hook.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Default and maximum timeout of hooks that a process waits for before it exits.
const EXIT_TIMEOUT_MS: u64 = 1_500;
const MAX_EXIT_TIMEOUT_MS: u64 = 60_000;

/// An event that hooks can be configured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A process opens a conversation.
    SessionStart,
    /// A process is done with a conversation.
    SessionEnd,
    /// A prompt is about to be sent.
    UserPromptSubmit,
    /// A tool call is about to be authorised.
    PreToolUse,
    /// A tool call succeeded.
    PostToolUse,
    /// A tool call failed, timed out or was interrupted.
    PostToolUseFailure,
    /// The model finished its turn.
    PostSampling,
    /// An answer is complete.
    Stop,
    /// A sub-agent starts.
    SubagentStart,
    /// The answer of a sub-agent is complete.
    SubagentStop,
    /// Old messages are about to be removed.
    PreCompact,
    /// A person is asked a question.
    Notification,
    /// A call needs approval, and a person or a program is about to be asked.
    PermissionRequest,
    /// A call was denied without anyone having been asked.
    PermissionDenied,
    /// Every call of a reply has a result.
    PostToolBatch,
    /// Old messages were replaced by a summary.
    PostCompact,
    /// The run ended because the model or its provider failed.
    StopFailure,
    /// A typed command becomes a prompt.
    UserPromptExpansion,
    /// A file of instructions is read for the model.
    InstructionsLoaded,
    /// The model of the session is about to change.
    PreModelSwitch,
    /// The model of the session, or of a run, has changed.
    PostModelSwitch,
    /// A git worktree was made for a sub-agent.
    WorktreeCreate,
    /// The git worktree of a sub-agent is removed.
    WorktreeRemove,
}

pub(super) const EVENTS: [(HookEvent, &str); 23] = [
    (HookEvent::SessionStart, "SessionStart"),
    (HookEvent::SessionEnd, "SessionEnd"),
    (HookEvent::UserPromptSubmit, "UserPromptSubmit"),
    (HookEvent::PreToolUse, "PreToolUse"),
    (HookEvent::PostToolUse, "PostToolUse"),
    (HookEvent::PostToolUseFailure, "PostToolUseFailure"),
    (HookEvent::PostSampling, "PostSampling"),
    (HookEvent::Stop, "Stop"),
    (HookEvent::SubagentStart, "SubagentStart"),
    (HookEvent::SubagentStop, "SubagentStop"),
    (HookEvent::PreCompact, "PreCompact"),
    (HookEvent::Notification, "Notification"),
    (HookEvent::PermissionRequest, "PermissionRequest"),
    (HookEvent::PermissionDenied, "PermissionDenied"),
    (HookEvent::PostToolBatch, "PostToolBatch"),
    (HookEvent::PostCompact, "PostCompact"),
    (HookEvent::StopFailure, "StopFailure"),
    (HookEvent::UserPromptExpansion, "UserPromptExpansion"),
    (HookEvent::InstructionsLoaded, "InstructionsLoaded"),
    (HookEvent::PreModelSwitch, "PreModelSwitch"),
    (HookEvent::PostModelSwitch, "PostModelSwitch"),
    (HookEvent::WorktreeCreate, "WorktreeCreate"),
    (HookEvent::WorktreeRemove, "WorktreeRemove"),
];

impl HookEvent {
    /// Returns the name of the event, as in `settings.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        EVENTS.iter().find(|(event, _)| *event == self).map_or("", |(_, name)| name)
    }

    /// Returns the event of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }

    /// Returns whether exit code 2 or a decision blocks the event. Objections to the other events
    /// are shown to the user.
    pub(in crate::hooks) fn can_block(self) -> bool {
        match self {
            Self::UserPromptSubmit
            | Self::PreToolUse
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact
            | Self::PermissionRequest
            | Self::UserPromptExpansion
            | Self::PreModelSwitch
            | Self::WorktreeCreate => true,
            Self::SessionStart
            | Self::SessionEnd
            | Self::PostSampling
            | Self::SubagentStart
            | Self::Notification
            | Self::PermissionDenied
            | Self::PostToolBatch
            | Self::PostCompact
            | Self::StopFailure
            | Self::InstructionsLoaded
            | Self::PostModelSwitch
            | Self::WorktreeRemove => false,
        }
    }

    /// Returns whether a model can be asked at the event: some belong to no run that could pay for it.
    pub(super) fn can_ask_model(self) -> bool {
        !matches!(
            self,
            Self::SessionEnd
                | Self::UserPromptExpansion
                | Self::InstructionsLoaded
                | Self::PreModelSwitch
                | Self::PostModelSwitch
                | Self::WorktreeCreate
                | Self::WorktreeRemove
        )
    }

    /// Returns the default and the maximum timeout of a hook.
    pub(super) fn timeouts_ms(self) -> (u64, u64) {
        match self {
            Self::SessionEnd => (EXIT_TIMEOUT_MS, MAX_EXIT_TIMEOUT_MS),
            _ => (DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS),
        }
    }

    /// Returns the subjects that a matcher of the event can name: those that occur here, and those
    /// that only Claude Code has. `None` where they are not known.
    pub(super) fn matcher_subjects(
        self,
    ) -> Option<(&'static [&'static str], &'static [&'static str])> {
        match self {
            Self::SessionStart => Some((&["startup", "resume"], &["clear", "compact"])),
            Self::SessionEnd => Some((
                &["clear", "other"],
                &["bypass_permissions_disabled", "logout", "prompt_input_exit", "resume"],
            )),
            Self::PreCompact | Self::PostCompact => Some((&["manual", "auto"], &[])),
            Self::Notification => Some((
                &["permission_prompt", "elicitation_dialog"],
                &["auth_success", "elicitation_complete", "elicitation_response", "idle_prompt"],
            )),
            Self::InstructionsLoaded => Some((
                &["session_start", "nested_traversal"],
                &["path_glob_match", "include", "compact"],
            )),
            _ => None,
        }
    }

    /// Returns whether the event is about a tool call.
    pub(super) fn is_tool_event(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::PermissionRequest
                | Self::PermissionDenied
        )
    }

    /// Returns whether the event has a subject that a matcher can match.
    pub(super) fn has_subject(self) -> bool {
        !matches!(
            self,
            Self::UserPromptSubmit
                | Self::Stop
                | Self::PostSampling
                | Self::PostToolBatch
                | Self::WorktreeCreate
                | Self::WorktreeRemove
        )
    }
}
