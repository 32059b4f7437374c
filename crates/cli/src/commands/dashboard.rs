//! `windlass dashboard`: opens the dashboard of a server that runs, with its token.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use windlass_server::AccessToken;

use crate::args::DashboardArgs;
use crate::commands::serve::TOKEN_FILE;
use crate::config::paths;
use crate::exit::OrUsageError;
use crate::terminal::browser;
use crate::{messages, terminal};

/// The file in the state folder with the address of the server that was started last.
const ADDRESS_FILE: &str = "server-address";

/// The page in the state folder that sends the browser on. It holds the token and is private.
const REDIRECT_FILE: &str = "open-dashboard.html";

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &DashboardArgs) -> anyhow::Result<ExitCode> {
    let state = paths::state_folder()?;
    let address = match &args.server {
        Some(address) => address.trim_end_matches('/').to_owned(),
        None => read_address(&state).or_usage_error()?,
    };
    check_server(&address).or_usage_error()?;
    let token_file = args.token_file.clone().unwrap_or_else(|| state.join(TOKEN_FILE));
    AccessToken::read(&token_file).or_usage_error()?;
    let token = std::fs::read_to_string(&token_file)?;
    let page = page_address(&address, token.trim());
    if args.no_open || !open(&state, &page)? {
        terminal::print_line(&page);
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the dashboard of a server that has just been started. Without a browser its address is
/// printed, which brings the token along.
pub(crate) fn open_own(address: &str, token_file: &Path) -> anyhow::Result<()> {
    let token = std::fs::read_to_string(token_file)?;
    let page = page_address(address, token.trim());
    if !open(&paths::state_folder()?, &page)? {
        terminal::print_note(&messages::open_this_page(&page));
    }
    Ok(())
}

/// Remembers where a server listens, for `windlass dashboard`.
pub(crate) fn remember_address(address: &str) -> anyhow::Result<()> {
    let state = paths::state_folder()?;
    std::fs::create_dir_all(&state)?;
    write_private(&state.join(ADDRESS_FILE), address)
}

fn read_address(state: &Path) -> anyhow::Result<String> {
    match std::fs::read_to_string(state.join(ADDRESS_FILE)) {
        Ok(address) => Ok(address.trim().to_owned()),
        Err(_) => bail!(messages::NO_SERVER_KNOWN),
    }
}

/// Checks that somebody listens, before a browser is sent there.
fn check_server(address: &str) -> anyhow::Result<()> {
    let uri: http::Uri = address.parse().ok().context(messages::not_an_address(address))?;
    let Some(host) = uri.host() else { bail!(messages::not_an_address(address)) };
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses = (host, uri.port_u16().unwrap_or(default))
        .to_socket_addrs()
        .ok()
        .context(messages::no_server_responds(address))?;
    let is_there = addresses.any(|it| TcpStream::connect_timeout(&it, CONNECT_TIMEOUT).is_ok());
    if !is_there {
        bail!(messages::no_server_responds(address));
    }
    Ok(())
}

/// The address with the token in its fragment, which a browser keeps for itself.
fn page_address(address: &str, token: &str) -> String {
    let escaped = percent_encoding::utf8_percent_encode(token, percent_encoding::NON_ALPHANUMERIC);
    format!("{address}/#token={escaped}")
}

fn open(state: &Path, page: &str) -> anyhow::Result<bool> {
    let file: PathBuf = state.join(REDIRECT_FILE);
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>Windlass</title><meta http-equiv=\"refresh\" content=\"0;url={page}\">\
         <a href=\"{page}\">Open the dashboard</a>\n"
    );
    write_private(&file, &text)?;
    Ok(browser::open_file(&file))
}

/// Writes a file that only its owner can read, also if it existed with other rights.
fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let _ = std::fs::remove_file(path);
    let failed = || format!("cannot write {}", path.display());
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.with_context(failed)?.write_all(text.as_bytes()).with_context(failed)
}
