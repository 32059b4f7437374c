//! Where the headers of requests to a server come from.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use windlass_runtime::ports::BoxFuture;

use crate::connection::McpError;
use crate::http::HeaderSource;
use crate::stdio::{ServerLauncher, StdioCommand};

/// How long a helper may take.
const HELPER_TIMEOUT: Duration = Duration::from_secs(10);

/// Length of what a helper prints, in bytes.
const MAX_HELPER_BYTES: u64 = 64 << 10;

/// Headers of the configuration, and those that a helper prints for each connection.
pub struct ConfiguredHeaders {
    /// The headers of the configuration.
    pub fixed: Vec<(String, String)>,
    /// The helper, if there is one.
    pub helper: Option<HeadersHelper>,
}

/// A command that prints headers as a JSON object.
pub struct HeadersHelper {
    /// The command, for a shell.
    pub command: String,
    /// The folder it works in.
    pub folder: PathBuf,
    /// The name of the server.
    pub server: String,
    /// The URL of the server.
    pub url: String,
    /// Starts it.
    pub launcher: Arc<dyn ServerLauncher>,
}

impl HeaderSource for ConfiguredHeaders {
    fn headers(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, McpError>> {
        Box::pin(async move {
            let mut headers = self.fixed.clone();
            if let Some(helper) = &self.helper {
                let printed = tokio::time::timeout(HELPER_TIMEOUT, helper.run()).await;
                let late = || Err(format!("it ran longer than {} s", HELPER_TIMEOUT.as_secs()));
                let printed = printed.unwrap_or_else(|_| late()).map_err(|why| {
                    McpError::Unreachable(format!("`headersHelper` failed: {why}"))
                })?;
                // What was printed just now is newer than what was configured.
                headers.retain(|(name, _)| {
                    !printed.iter().any(|(new, _)| new.eq_ignore_ascii_case(name))
                });
                headers.extend(printed);
            }
            Ok(headers)
        })
    }
}

impl HeadersHelper {
    async fn run(&self) -> Result<Vec<(String, String)>, String> {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let command = StdioCommand {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), self.command.clone()],
            folder: self.folder.clone(),
            variables: vec![
                variable("CLAUDE_CODE_MCP_SERVER_NAME", &self.server),
                variable("CLAUDE_CODE_MCP_SERVER_URL", &self.url),
            ],
        };
        let process = self.launcher.launch(command).await?;
        drop(process.input);
        let printed = read_all(process.output).await;
        process.end.await;
        parse_headers(&printed?)
    }
}

async fn read_all(output: Box<dyn AsyncRead + Send + Unpin>) -> Result<String, String> {
    let mut printed = String::new();
    let read = output.take(MAX_HELPER_BYTES).read_to_string(&mut printed).await;
    read.map(|_| printed).map_err(|error| error.to_string())
}

fn parse_headers(printed: &str) -> Result<Vec<(String, String)>, String> {
    let headers: Value = serde_json::from_str(printed)
        .map_err(|_| "it must print a JSON object of headers".to_owned())?;
    let headers = headers.as_object().ok_or("it must print a JSON object of headers")?;
    let header =
        |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    headers
        .iter()
        .map(header)
        .collect::<Option<_>>()
        .ok_or_else(|| "a header is not a text".to_owned())
}
