//! `Skill`: loads the instructions of a skill when they are needed.
//!
//! The model sees a summary of each skill in the description of the tool. The text itself is context
//! of a call's result, so that it stays word for word when the conversation is compacted.
//!
//! Not here: where skills are read from, and whether their folder is trusted.

use std::fmt::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::input::ContextNote;
use windlass_core::message::raw_json::{RawJson, sha256_hex};
use windlass_core::permission::PermissionRule;
use windlass_core::run::child_runs::ChildTask;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::name_suggestion::nearest_name;
use crate::sub_agents::delegation_facts;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

#[cfg(test)]
#[path = "skill_tool_tests.rs"]
mod skill_tool_tests;

/// What the model is told about skills, before their list.
const DESCRIPTION: &str = "Loads the instructions of a skill: how a kind of task is done here. When a task fits the description of a skill, load it before you begin. Skills:";

/// Maximum number of characters of all summaries together.
const MAX_LIST_CHARS: usize = 16_000;

/// Maximum number of characters of one summary.
const MAX_SUMMARY_CHARS: usize = 1_000;

/// Number of characters that every summary gets, however many skills there are.
const MIN_SUMMARY_CHARS: usize = 40;

/// Maximum number of skills that are listed.
const MAX_LISTED_SKILLS: usize = 200;

/// Characters of the hash that tells versions of a skill apart.
const HASH_CHARS: usize = 12;

/// A skill, as far as the model sees it before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSummary {
    /// The name by which it is called.
    pub name: String,
    /// What it is for and when to use it.
    pub description: String,
}

/// A skill that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its instructions.
    pub text: String,
    /// Calls that need no approval once it is loaded.
    pub allows: Vec<PermissionRule>,
    /// The agent that follows the instructions as a sub-agent, empty for one like the caller. Without
    /// it the caller follows them itself.
    pub fork: Option<Arc<str>>,
}

/// Reads the skill of this name with these arguments; the error says why that is not possible. Must
/// be fast.
pub type SkillLoader = Arc<dyn Fn(&str, &str) -> Result<LoadedSkill, String> + Send + Sync>;

/// `Skill`: loads the instructions of a skill.
#[derive(Clone)]
pub struct SkillTool {
    skills: Vec<SkillSummary>,
    load: SkillLoader,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkillInput {
    /// The name of the skill
    skill: String,
    /// What the skill should work on, if it takes arguments
    args: Option<String>,
}

impl ToolInput for SkillInput {}

impl SkillInput {
    /// The name without the slash with which people type it.
    fn name(&self) -> &str {
        self.skill.trim().trim_start_matches('/')
    }
}

impl SkillTool {
    /// Returns the tool for these skills.
    #[must_use]
    pub fn new(skills: Vec<SkillSummary>, load: SkillLoader) -> Self {
        Self { skills, load }
    }

    fn read_input(&self, input: &RawJson) -> Result<SkillInput, ToolError> {
        let asked: SkillInput = tool_input::read_input(input)?;
        let names = || self.skills.iter().map(|skill| skill.name.as_str());
        if names().any(|name| name == asked.name()) {
            return Ok(asked);
        }
        let near = nearest_name(asked.name(), names());
        let hint = near.map_or_else(
            || "use one of the skills in the description of this tool".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        let message = format!("there is no skill named {:?}", asked.name());
        Err(ToolError::new("unknown_skill", &message, &hint))
    }

    /// The facts of a call: a skill with a context of its own is a task for a sub-agent.
    fn facts_of(&self, asked: &SkillInput) -> Result<CallFacts, ToolError> {
        let Ok(LoadedSkill { fork: Some(agent), text, .. }) = self.load(asked) else {
            // What is wrong with a skill is the result of the call.
            return Ok(tool_input::read_only_facts(Vec::new(), asked.name()));
        };
        Ok(delegation_facts(vec![ChildTask::new(&agent, &text)], asked.name()))
    }

    fn load(&self, asked: &SkillInput) -> Result<LoadedSkill, ToolError> {
        let args = asked.args.as_deref().unwrap_or_default();
        (self.load)(asked.name(), args).map_err(|reason| {
            let message = format!("the skill {} cannot be read: {reason}", asked.name());
            ToolError::new("unreadable_skill", &message, "do without it, or tell the user")
        })
    }

    fn description(&self) -> String {
        let listed = self.skills.len().min(MAX_LISTED_SKILLS);
        let share = (MAX_LIST_CHARS / listed.max(1)).clamp(MIN_SUMMARY_CHARS, MAX_SUMMARY_CHARS);
        let mut text = DESCRIPTION.to_owned();
        for skill in self.skills.iter().take(listed) {
            let summary = summary_line(&skill.description, share);
            // Writing to a text cannot fail.
            let _ = write!(text, "\n- {}: {summary}", skill.name);
        }
        match self.skills.len() - listed {
            0 => text,
            more => format!("{text}\nThere are {more} more, which the user can name."),
        }
    }
}

/// The description on one line, cut to a number of characters.
fn summary_line(description: &str, chars: usize) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

fn framed_skill(name: &str, text: &str) -> String {
    format!(
        "<skill name=\"{name}\">\n{}\n</skill>\nThese are the instructions of the skill {name}, which \
         you have loaded. They apply to the task you loaded it for.",
        text.trim_end()
    )
}

impl Tool for SkillTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<SkillInput>("Skill", &self.description())
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        self.read_input(input).and_then(|asked| self.facts_of(&asked)).unwrap_or_else(problem_facts)
    }

    fn run(&self, _context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let loaded = self.read_input(&input).and_then(|asked| {
            self.load(&asked)?;
            Ok(format!("The skill {} is loaded; its instructions are below.", asked.name()))
        });
        let outcome = loaded
            .map_or_else(ToolOutcome::Failed, |text| ToolOutcome::Done(RawJson::string(&text)));
        Box::pin(std::future::ready(outcome))
    }

    fn context_after(&self, _context: &CallContext, input: &RawJson) -> Vec<ContextNote> {
        let Ok(asked) = self.read_input(input) else { return Vec::new() };
        let Ok(LoadedSkill { text, allows, fork: None }) = self.load(&asked) else {
            return Vec::new();
        };
        let hash = sha256_hex(text.as_bytes());
        let version = hash.get(..HASH_CHARS).unwrap_or(&hash);
        let source = Arc::from(format!("skill:{}:{version}", asked.name()));
        let text = Arc::from(framed_skill(asked.name(), &text));
        vec![ContextNote { source, text, allows }]
    }
}

impl std::fmt::Debug for SkillTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillTool").field("skills", &self.skills).finish_non_exhaustive()
    }
}
