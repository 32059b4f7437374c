//! Processes and HTTP requests of MCP servers, from the crates that have them.

use std::sync::Arc;

use windlass_mcp::{
    HttpError, HttpRequest, HttpResponse, HttpTransport, ServerLauncher, ServerProcess,
    StdioCommand,
};
use windlass_providers::{HttpClient, PlainRequest};
use windlass_runtime::ports::{BoxFuture, Clock, ProcessLauncher};
use windlass_tools::PipedCommand;

/// How long a connection may take to open, in milliseconds.
const CONNECT_MS: u64 = 30_000;

/// Starts server processes like all other commands of the agent: in a group that ends with this
/// process.
pub(super) struct GroupLauncher {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) launcher: Arc<dyn ProcessLauncher>,
}

impl GroupLauncher {
    async fn start(&self, command: StdioCommand) -> Result<ServerProcess, String> {
        let StdioCommand { program, arguments, folder, variables } = command;
        let piped = PipedCommand { program, arguments, folder, variables };
        let (process, pipes) = piped.start(self.launcher.as_ref()).await.map_err(|error| {
            format!("cannot start `{}`: {error}; check the command", piped.program)
        })?;
        let clock = Arc::clone(&self.clock);
        Ok(ServerProcess {
            input: Box::new(pipes.stdin),
            output: Box::new(pipes.stdout),
            errors: Box::new(pipes.stderr),
            end: Box::pin(async move { process.end(clock.as_ref()).await }),
        })
    }
}

impl ServerLauncher for GroupLauncher {
    fn launch(&self, command: StdioCommand) -> BoxFuture<'_, Result<ServerProcess, String>> {
        Box::pin(self.start(command))
    }
}

/// The HTTP client of the models, for servers.
pub(super) struct HttpAdapter {
    pub(super) client: Arc<HttpClient>,
}

impl HttpTransport for HttpAdapter {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, HttpError>> {
        let HttpRequest { method, url, headers, body } = request;
        let request = PlainRequest { method, url, headers, body };
        Box::pin(async move {
            match self.client.send_plain(request, CONNECT_MS).await {
                Ok(response) => Ok(HttpResponse {
                    status: response.status,
                    headers: response.headers,
                    body: response.body,
                }),
                Err(error) => Err(HttpError { message: error.message, is_unsent: error.is_unsent }),
            }
        })
    }
}
