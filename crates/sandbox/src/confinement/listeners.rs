//! Listeners on the loopback interface of a new network namespace, handed to the launcher, which
//! serves them from outside: nothing else leads out of the namespace.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Makes a listener for each of the ports and sends them, in their order.
pub(super) fn send_listeners(channel: &File, ports: &[u16]) -> io::Result<()> {
    for port in ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
        let descriptors = [listener.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = SendAncillaryBuffer::new(&mut space);
        if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(channel, &[IoSlice::new(b"l")], &mut message, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}
