//! The Agent Client Protocol over standard input and output: an editor is the client, this process
//! the agent.
//!
//! A front end like any other: prompts are sent and followed through the facade, and what is shown
//! comes from the one projection of messages. What a session is made of (settings, model, tools) is
//! the business of the [`EditorHost`].
//!
//! Not here: records of the log, configuration, and anything that reads the command line.

mod agent;
mod approvals;
mod editor;
mod host;
mod line_transport;
mod prompt_content;
mod session;
mod session_options;
mod sessions;
mod tool_call_view;
mod turn;
mod update_projection;

pub use agent::{ServeError, serve};
pub use editor::EditorFiles;
pub use host::{
    CommandChoice, EditorHost, HostError, HostedSession, LoginMethod, McpServerConfig, ModelChoice,
    OpenRequest, OpenTarget, PromptMeaning, SessionEntry, SessionFilter,
};
