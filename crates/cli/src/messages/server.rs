//! Messages of `windlass serve`.

use std::net::SocketAddr;
use std::path::Path;

use super::redact_password;

/// Message of a server that starts.
pub(crate) fn server_started(store: &Path, token_file: &Path) -> String {
    let location = redact_password(&store.display().to_string());
    let token_file = token_file.display();
    format!(
        "windlass: serving {location}; the token is in {token_file}, send it as `Authorization: \
         Bearer TOKEN`; stop with SIGTERM"
    )
}

/// Why a server does not listen for other machines without a token that was chosen for them.
pub(crate) fn serve_without_token(listen: SocketAddr) -> String {
    format!(
        "{listen} can be reached from other machines, and no token was given; give one with \
         --token-file FILE, or listen on 127.0.0.1"
    )
}

/// Why a server does not speak plain HTTP to other machines.
pub(crate) fn serve_without_tls(listen: SocketAddr) -> String {
    format!(
        "{listen} can be reached from other machines, and the token would cross the network \
         unprotected; give --tls-cert FILE and --tls-key FILE, or --insecure-http behind a proxy \
         that speaks HTTPS"
    )
}

/// Why a host cannot be allowed.
pub(crate) fn not_a_host(text: &str) -> String {
    format!("`{text}` is not a valid value for --allowed-host; give HOST or HOST:PORT")
}

/// What a person does whose browser could not be opened.
pub(crate) fn open_this_page(page: &str) -> String {
    format!("windlass: no browser was found; open {page}")
}

/// Why there is no dashboard to open.
pub(crate) const NO_SERVER_KNOWN: &str = "no server was started here; start one with `windlass serve --open`, or name one with --server URL";

/// Why an address is not one.
pub(crate) fn not_an_address(text: &str) -> String {
    format!("`{text}` is not a valid value for --server; give http://HOST:PORT")
}

/// Why a dashboard cannot be opened.
pub(crate) fn no_server_responds(address: &str) -> String {
    format!("no server responds at {address}; start it with `windlass serve --open`")
}
