//! Names that settings may have: those that count here, and those that Claude Code knows, which are
//! accepted so that one settings file serves both.

/// Settings that count here.
pub(super) const SETTINGS: [&str; 6] =
    ["$schema", "disableAllHooks", "env", "hooks", "model", "permissions"];

/// Settings of permissions that count here.
pub(super) const PERMISSIONS: [&str; 6] = [
    "additionalDirectories",
    "allow",
    "ask",
    "defaultMode",
    "deny",
    "disableBypassPermissionsMode",
];

/// Settings of permissions that Claude Code has besides.
pub(super) const ELSEWHERE_PERMISSIONS: &[&str] =
    &["disableAutoMode", "skipDangerousModePermissionPrompt"];

/// What the head of an agent file may say.
pub(super) const AGENT_KEYS: [&str; 6] =
    ["description", "disallowedTools", "effort", "model", "name", "tools"];

/// What Claude Code reads there besides.
pub(super) const ELSEWHERE_AGENT_KEYS: &[&str] = &[
    "background",
    "color",
    "hooks",
    "initialPrompt",
    "isolation",
    "maxTurns",
    "mcpServers",
    "memory",
    "permissionMode",
    "skills",
];

/// What the head of a command page may say.
pub(super) const COMMAND_KEYS: [&str; 4] =
    ["allowed-tools", "argument-hint", "description", "model"];

/// What Claude Code reads there besides.
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

/// Settings that Claude Code has besides.
pub(super) const ELSEWHERE_SETTINGS: &[&str] = &[
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
    "enabledPlugins",
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
    "outputStyle",
    "plansDirectory",
    "pluginConfigs",
    "pluginTrustMessage",
    "prefersReducedMotion",
    "promptSuggestionEnabled",
    "remote",
    "respectGitignore",
    "sandbox",
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

/// Tools that Claude Code has besides.
pub(super) const ELSEWHERE_TOOLS: &[&str] = &[
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
    "Skill",
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
    "WebFetch",
    "WebSearch",
    "Workflow",
];
