//! Prompts that a server offers: templates that become a user's prompt.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::connection::McpError;
use crate::managed_server::ManagedServer;
use crate::plain_text::plain_text;
use crate::result_content::{DataFiles, content_block};
use crate::tool_name::qualified_tool_name;

/// Maximum number of prompts of one server.
pub(crate) const MAX_PROMPTS: usize = 500;

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// A prompt as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PromptDefinition {
    /// The name of the prompt on its server.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Its arguments, in order.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PromptArgument {
    /// The name of the argument.
    pub name: String,
    /// Whether the prompt cannot be made without it.
    #[serde(default)]
    pub required: bool,
}

impl PromptDefinition {
    /// Returns the description without characters that a person does not see, and bounded.
    #[must_use]
    pub fn plain_description(&self) -> String {
        plain_text(&self.description, MAX_DESCRIPTION_CHARS)
    }

    /// Returns the arguments by name from text as it is typed: words in order, the last argument
    /// takes the rest.
    ///
    /// # Errors
    ///
    /// Returns a text that says which argument is missing.
    pub fn arguments_from_text(&self, text: &str) -> Result<Map<String, Value>, String> {
        let mut rest = text.trim();
        let mut given = Map::new();
        for (place, argument) in self.arguments.iter().enumerate() {
            let is_last = place + 1 == self.arguments.len();
            let (word, after) = match is_last {
                true => (rest, ""),
                false => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            };
            if !word.is_empty() {
                given.insert(argument.name.clone(), json!(word));
            } else if argument.required {
                return Err(format!("the argument `{}` is missing", argument.name));
            }
            rest = after.trim_start();
        }
        Ok(given)
    }
}

impl ManagedServer {
    /// Returns the prompts that the server offers, if it is connected.
    #[must_use]
    pub fn prompts(&self) -> Vec<PromptDefinition> {
        match self.state() {
            crate::ServerState::Connected(server) => server.prompts(),
            _ => Vec::new(),
        }
    }

    /// Returns the name by which a prompt is called: `mcp__server__prompt`.
    #[must_use]
    pub fn prompt_command(&self, prompt: &PromptDefinition) -> String {
        qualified_tool_name(self.name(), &prompt.name)
    }

    /// Gets the content of a prompt, as blocks that a model can read.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] if the server cannot be reached or refuses.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<Value>, McpError> {
        let server = self.connected().await?;
        let asked = json!({"name": name, "arguments": arguments});
        let result =
            self.within_call_timeout(server.client().request("prompts/get", asked)).await?;
        let messages = result.get("messages").and_then(Value::as_array);
        let messages =
            messages.ok_or_else(|| McpError::Invalid("prompts/get has no messages".to_owned()))?;
        Ok(messages.iter().map(message_block).collect())
    }
}

/// A message of a prompt. All of them become one message of the user, so an answer says that it is
/// one.
fn message_block(message: &Value) -> Value {
    let mut block =
        content_block(message.get("content").unwrap_or(&Value::Null), &DataFiles::default());
    let is_answer = message.get("role") == Some(&json!("assistant"));
    if let Some(text) = block.get_mut("text").filter(|_| is_answer)
        && let Some(said) = text.as_str()
    {
        *text = json!(format!("You answered: {said}"));
    }
    block
}
