//! The network of confined processes: hosts by rule through a proxy in this process, and ports of
//! this machine.

mod dialer;
mod http_head;
mod proxy;
mod received_listeners;
mod socks;
mod tunnel;

#[cfg(test)]
mod http_head_tests;
#[cfg(test)]
mod tunnel_tests;

pub(crate) use dialer::Dialer;
pub(crate) use proxy::NetworkTasks;
pub(crate) use received_listeners::receive_listeners;

use std::ffi::OsString;

/// The port of the proxy in the network namespace of a process.
pub(crate) const PROXY_PORT: u16 = 17_893;

/// Hosts that are not asked of the proxy: the process itself.
const OWN_HOSTS: &str = "localhost,127.0.0.1,::1";

/// Returns the variables by which programs find the proxy.
pub(crate) fn proxy_variables() -> Vec<(OsString, OsString)> {
    let http = format!("http://127.0.0.1:{PROXY_PORT}");
    let variables = [
        ("HTTP_PROXY", &*http),
        ("HTTPS_PROXY", &*http),
        ("ALL_PROXY", &*http),
        ("http_proxy", &*http),
        ("https_proxy", &*http),
        ("all_proxy", &*http),
        ("NO_PROXY", OWN_HOSTS),
        ("no_proxy", OWN_HOSTS),
    ];
    variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
}
