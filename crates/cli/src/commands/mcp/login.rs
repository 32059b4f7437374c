//! Logs in to servers over HTTP, and out again.

use std::process::{ExitCode, Stdio};
use std::sync::Arc;

use anyhow::bail;
use windlass::mcp::{BrowserOpener, LoginPrompt, McpServices, OAuthClient, TransportConfig};
use windlass::ports::{BoxFuture, Clock};
use windlass::{SystemClock, UnconfinedLauncher};

use super::{all_sources, trust_here};
use crate::args::McpArgs;
use crate::config::mcp::login_file::RecordedLogins;
use crate::config::mcp::server_list;
use crate::{messages, terminal};

/// Logs in to a server.
pub(super) async fn login(name: &str, mcp: &McpArgs) -> anyhow::Result<ExitCode> {
    let (url, client) = client_of(name, mcp)?;
    let prompt = LoginPrompt { browser: Arc::new(SystemBrowser) };
    match client.login(&prompt).await {
        Ok(()) => {
            print_safe(&messages::mcp_logged_in(name, &url));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => bail!(messages::mcp_login_failed(name, &error.to_string())),
    }
}

/// Forgets the login to a server.
pub(super) fn logout(name: &str, mcp: &McpArgs) -> anyhow::Result<ExitCode> {
    let (_, client) = client_of(name, mcp)?;
    let stored = client.stored().map_err(|error| anyhow::anyhow!("{error}"))?;
    let removed = match stored {
        Some(login) => RecordedLogins.remove(&login.resource).map_err(anyhow::Error::msg)?,
        None => false,
    };
    print_safe(&messages::mcp_logged_out(name, removed));
    Ok(ExitCode::SUCCESS)
}

/// The client for a server that is configured here.
fn client_of(name: &str, mcp: &McpArgs) -> anyhow::Result<(String, OAuthClient)> {
    let folder = trust_here()?;
    let configured = server_list::configured_servers((mcp, &all_sources()), &folder)?;
    let Some(server) = configured.into_iter().find(|server| server.name == name) else {
        bail!(messages::mcp_server_unknown(name));
    };
    let config =
        server.config.map_err(|problem| anyhow::anyhow!("MCP server {name}: {problem}"))?;
    let TransportConfig::Http { url, oauth, .. } = config.transport else {
        bail!(messages::mcp_login_without_url(name));
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let services = McpServices::new(Arc::clone(&clock), Arc::new(UnconfinedLauncher));
    let store = Arc::new(RecordedLogins);
    Ok((url.clone(), OAuthClient::new(&url, oauth, services.transport(), (store, clock))))
}

/// The browser of the user: `BROWSER`, else the program that opens pages on this system.
struct SystemBrowser;

impl BrowserOpener for SystemBrowser {
    fn open(&self, url: &str) -> BoxFuture<'_, ()> {
        print_safe(&messages::mcp_open_in_browser(url));
        let named = std::env::var("BROWSER").ok().filter(|named| !named.trim().is_empty());
        let default = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let programs: Vec<String> = match named {
            Some(named) => named.split(':').map(str::to_owned).collect(),
            None => vec![default.to_owned()],
        };
        for program in programs {
            if start_browser(&program, url) {
                break;
            }
        }
        Box::pin(std::future::ready(()))
    }
}

/// Starts a browser with the page as its only argument: no shell reads what a server sent.
#[expect(clippy::disallowed_methods, reason = "a browser outlives this command")]
fn start_browser(program: &str, url: &str) -> bool {
    let mut words = program.split_whitespace();
    let Some(name) = words.next() else { return false };
    let mut command = tokio::process::Command::new(name);
    command.args(words).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

fn print_safe(text: &str) {
    terminal::print_line(&terminal::sanitize_text(text));
}
