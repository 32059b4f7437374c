//! Known names of settings: those with an effect here, and those of Claude Code, which are accepted
//! so that one settings file serves both.

/// Settings that have an effect here.
pub(super) const OWN_SETTINGS: [&str; 9] = [
    "$schema",
    "disableAllHooks",
    "enabledPlugins",
    "env",
    "hooks",
    "model",
    "outputStyle",
    "permissions",
    "sandbox",
];

/// Settings of the sandbox that have an effect here.
pub(super) const OWN_SANDBOX: [&str; 5] =
    ["autoAllowBashIfSandboxed", "enabled", "failIfUnavailable", "filesystem", "network"];

/// Further settings of Claude Code's sandbox.
pub(super) const CLAUDE_CODE_SANDBOX: &[&str] = &[
    "allowUnsandboxedCommands",
    "enableWeakerNestedSandbox",
    "excludedCommands",
    "ignoreViolations",
];

/// Permission settings that have an effect here.
pub(super) const OWN_PERMISSIONS: [&str; 6] = [
    "additionalDirectories",
    "allow",
    "ask",
    "defaultMode",
    "deny",
    "disableBypassPermissionsMode",
];

/// Further permission settings of Claude Code.
pub(super) const CLAUDE_CODE_PERMISSIONS: &[&str] =
    &["disableAutoMode", "skipDangerousModePermissionPrompt"];

/// Known names in the front matter of an agent file.
pub(super) const AGENT_KEYS: [&str; 13] = [
    "background",
    "description",
    "disallowedTools",
    "effort",
    "hooks",
    "isolation",
    "maxTurns",
    "mcpServers",
    "model",
    "name",
    "permissionMode",
    "skills",
    "tools",
];

/// Further names that Claude Code reads in an agent file.
pub(super) const ELSEWHERE_AGENT_KEYS: &[&str] = &["color", "initialPrompt", "memory"];

/// Known names in the front matter of an output style.
pub(super) const STYLE_KEYS: [&str; 3] = ["description", "keep-coding-instructions", "name"];

/// Further names that Claude Code reads in an output style.
pub(super) const ELSEWHERE_STYLE_KEYS: &[&str] = &["force-for-plugin"];

/// Known names in the front matter of a skill.
pub(super) const SKILL_KEYS: [&str; 9] = [
    "agent",
    "allowed-tools",
    "argument-hint",
    "context",
    "description",
    "disable-model-invocation",
    "model",
    "name",
    "user-invocable",
];

/// Further names that Claude Code reads in a skill, and those that only describe it.
pub(super) const ELSEWHERE_SKILL_KEYS: &[&str] = &[
    "arguments",
    "author",
    "compatibility",
    "effort",
    "hooks",
    "license",
    "metadata",
    "paths",
    "shell",
    "version",
    "when_to_use",
];

/// Known names in the front matter of a command page.
pub(super) const COMMAND_KEYS: [&str; 4] =
    ["allowed-tools", "argument-hint", "description", "model"];

/// Further names that Claude Code reads in a command page.
pub(super) const ELSEWHERE_COMMAND_KEYS: &[&str] = &[
    "agent",
    "arguments",
    "context",
    "disable-model-invocation",
    "effort",
    "hooks",
    "name",
    "paths",
    "shell",
    "user-invocable",
    "version",
    "when_to_use",
];

/// Further settings of Claude Code.
pub(super) const CLAUDE_CODE_SETTINGS: &[&str] = &[
    "advisorModel",
    "agent",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "allowManagedPermissionRulesOnly",
    "allowedChannelPlugins",
    "allowedHttpHookUrls",
    "allowedMcpServers",
    "alwaysThinkingEnabled",
    "apiKeyHelper",
    "attribution",
    "autoDreamEnabled",
    "autoMemoryDirectory",
    "autoMemoryEnabled",
    "autoMode",
    "autoUpdatesChannel",
    "availableModels",
    "awaySummaryEnabled",
    "awsAuthRefresh",
    "awsCredentialExport",
    "blockedMarketplaces",
    "channelsEnabled",
    "claudeMdExcludes",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "defaultShell",
    "deniedMcpServers",
    "disableAutoMode",
    "disableDeepLinkRegistration",
    "disableSkillShellExecution",
    "disabledMcpjsonServers",
    "editorMode",
    "effortLevel",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "extraKnownMarketplaces",
    "fastMode",
    "fastModePerSessionOptIn",
    "feedbackSurveyRate",
    "fileSuggestion",
    "forceLoginMethod",
    "forceLoginOrgUUID",
    "forceRemoteSettingsRefresh",
    "gcpAuthRefresh",
    "httpHookAllowedEnvVars",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "language",
    "minimumVersion",
    "modelOverrides",
    "otelHeadersHelper",
    "plansDirectory",
    "pluginConfigs",
    "pluginTrustMessage",
    "prefersReducedMotion",
    "promptSuggestionEnabled",
    "remote",
    "respectGitignore",
    "showClearContextOnPlanAccept",
    "showThinkingSummaries",
    "showTurnDuration",
    "skipAutoPermissionPrompt",
    "skipDangerousModePermissionPrompt",
    "skipWebFetchPreflight",
    "skippedMarketplaces",
    "skippedPlugins",
    "spinnerTipsEnabled",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "sshConfigs",
    "statusLine",
    "strictKnownMarketplaces",
    "strictPluginOnlyCustomization",
    "subagentStatusLine",
    "syntaxHighlightingDisabled",
    "teammateMode",
    "terminalProgressBarEnabled",
    "theme",
    "tui",
    "useAutoModeDuringPlan",
    "verbose",
    "viewMode",
    "voiceEnabled",
    "worktree",
];

/// Further tools of Claude Code.
pub(super) const CLAUDE_CODE_TOOLS: &[&str] = &[
    "AgentOutput",
    "Config",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "PushNotification",
    "REPL",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "SendUserMessage",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "ToolSearch",
    "Workflow",
];
