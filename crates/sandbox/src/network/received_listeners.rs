//! Listeners that the helper made in the network namespace of a process.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// Takes the listeners that were sent, without waiting for more.
pub(crate) fn receive_listeners(channel: &UnixStream) -> io::Result<Vec<tokio::net::TcpListener>> {
    let mut listeners = Vec::new();
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        match recvmsg(channel, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags) {
            Ok(received) if received.bytes == 0 => return Ok(listeners),
            Ok(_) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(listeners),
            Err(error) => return Err(error.into()),
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                for descriptor in descriptors {
                    let listener = TcpListener::from(descriptor);
                    listener.set_nonblocking(true)?;
                    listeners.push(tokio::net::TcpListener::from_std(listener)?);
                }
            }
        }
    }
}
