//! Reports to the service manager that started this process (systemd's `sd_notify` protocol): one
//! datagram for each change, to the socket that the environment names.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The variable with the socket of the service manager.
const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";

/// A state of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceState {
    /// Requests are answered.
    Ready,
    /// The process was told to stop.
    Stopping,
}

/// Reports a state, if a service manager wants to know. A report that cannot be delivered changes
/// nothing for the service itself.
pub(crate) fn report_state(state: ServiceState) {
    let Some(name) = std::env::var_os(NOTIFY_SOCKET).filter(|name| !name.is_empty()) else {
        return;
    };
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let text: &[u8] = match state {
        ServiceState::Ready => b"READY=1",
        ServiceState::Stopping => b"STOPPING=1",
    };
    let sent =
        address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(text, &address).map(drop));
    if let Err(error) = sent {
        tracing::warn!(target: "windlass::server", error = %error, "notify_failed");
    }
}
