//! Prompts in a few lines: [`query`] for one prompt, [`client`] for a conversation.

mod agent_builder;
mod approval;
mod conversation_client;
mod hook_closures;
mod message_stream;
mod query_error;
mod start;

pub use agent_builder::{AgentBuilder, ClientBuilder, NoPrompt, Prompt, Query};
pub use approval::{Approval, ApprovalKind, ApprovalRequest};
pub use conversation_client::{ConversationClient, ConversationUsage, RunExplanation};
pub use hook_closures::{HookEvent, HookReply};
pub use message_stream::{MessageStream, RunInterrupter};
pub use query_error::QueryError;

/// Prepares one prompt. The methods of the returned [`Query`] say with which model and tools;
/// [`Query::stream`] starts it, [`Query::text`] waits for the answer, [`Query::extract`] gets data.
///
/// A model is named by a string; its key comes from the environment (`ANTHROPIC_API_KEY`, …) or from
/// [`Query::api_key`]. Calls that no rule allows are denied unless [`Query::approve`] is given.
///
/// # Examples
///
/// ```no_run
/// # async fn why() -> Result<(), windlass::QueryError> {
/// let mut messages = windlass::query("Why does the build fail?")
///     .model("claude-sonnet-4-5")
///     .tools(["Read", "Grep", "Bash"])
///     .cwd(".")
///     .stream()
///     .await?;
/// while let Some(message) = messages.try_next().await? {
///     if let Some(text) = message.text() {
///         println!("{text}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn query(prompt: impl Into<Prompt>) -> Query {
    AgentBuilder::with_prompt(prompt.into())
}

/// Prepares a conversation of several prompts; [`ClientBuilder::open`] opens it.
///
/// # Examples
///
/// ```
/// use windlass::scripted::Script;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = Script::parse("when any\n  say \"You said: ${user}\"\n")?;
/// let client = windlass::client().script(script).open().await?;
/// assert_eq!(client.ask("First.").await?, "You said: First.");
/// assert_eq!(client.ask("Second.").await?, "You said: Second.");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn client() -> ClientBuilder {
    AgentBuilder::without_prompt()
}
