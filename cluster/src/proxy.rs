//! Fault-injecting TCP proxy between a client and a server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;

/// What the proxy does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyMode {
    /// Forwards everything.
    Pass,
    /// Cuts the connection with the client's next request: the server never receives it.
    CutRequest,
    /// Cuts the connection with the server's next answer: the client never receives it.
    CutAnswer,
}

#[derive(Debug)]
struct ProxyState {
    mode: Mutex<ProxyMode>,
    streams: Mutex<Vec<TcpStream>>,
    cuts: AtomicU64,
}

/// A listening proxy; it lasts as long as the process.
#[derive(Debug, Clone)]
pub struct FaultProxy {
    wire: Arc<ProxyState>,
    port: u16,
}

impl FaultProxy {
    /// Listens on a free port and forwards to `port`.
    pub fn listen_for(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let own = listener.local_addr()?.port();
        let wire = ProxyState {
            mode: Mutex::new(ProxyMode::Pass),
            streams: Mutex::default(),
            cuts: AtomicU64::new(0),
        };
        let wire = Arc::new(wire);
        let accepting = Arc::clone(&wire);
        thread::Builder::new().spawn(move || accept(&accepting, &listener, port))?;
        Ok(Self { wire, port: own })
    }

    /// The port on which the proxy listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets the mode. After a cut the proxy forwards again.
    pub fn set_mode(&self, mode: ProxyMode) {
        *self.wire.mode() = mode;
    }

    /// The current mode.
    #[must_use]
    pub fn mode(&self) -> ProxyMode {
        *self.wire.mode()
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.wire.cut();
    }

    /// How often connections were cut.
    #[must_use]
    pub fn cuts(&self) -> u64 {
        self.wire.cuts.load(Ordering::SeqCst)
    }
}

impl ProxyState {
    fn mode(&self) -> MutexGuard<'_, ProxyMode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut(&self) {
        self.cuts.fetch_add(1, Ordering::SeqCst);
        for stream in self.streams().drain(..) {
            _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Returns whether data in this direction cuts the connection now.
    fn is_cut_by(&self, speaker: ProxyMode) -> bool {
        let mut mode = self.mode();
        if *mode != speaker {
            return false;
        }
        *mode = ProxyMode::Pass;
        true
    }
}

fn accept(wire: &Arc<ProxyState>, listener: &TcpListener, port: u16) {
    for client in listener.incoming().flatten() {
        // If the server is down, the connection is closed at once.
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        _ = (client.set_nodelay(true), server.set_nodelay(true));
        let Ok(copies) = [&client, &server].map(TcpStream::try_clone).into_iter().collect() else {
            continue;
        };
        let copies: Vec<TcpStream> = copies;
        wire.streams().extend(copies);
        let (from, to) = (client.try_clone(), server.try_clone());
        carry(wire, client, server, ProxyMode::CutRequest);
        if let (Ok(to), Ok(from)) = (from, to) {
            carry(wire, from, to, ProxyMode::CutAnswer);
        }
    }
}

/// Forwards bytes in one direction until either end is closed or the connection is cut.
fn carry(wire: &Arc<ProxyState>, mut from: TcpStream, mut to: TcpStream, cut_by: ProxyMode) {
    let wire = Arc::clone(wire);
    // Detached: the thread ends with its connection.
    _ = thread::Builder::new().spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if wire.is_cut_by(cut_by) {
                wire.cut();
                return;
            }
            let Some(bytes) = buffer.get(..read) else { break };
            if to.write_all(bytes).is_err() {
                break;
            }
        }
        _ = from.shutdown(Shutdown::Both);
        _ = to.shutdown(Shutdown::Both);
    });
}
