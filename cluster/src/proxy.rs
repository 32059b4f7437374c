//! A wire that can be cut: between a client and a server, and told when to fail and how.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;

/// What the wire does with what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It passes everything on.
    Pass,
    /// It is cut when the client speaks next: the server never hears it.
    CutRequest,
    /// It is cut when the server answers next: the client never hears it.
    CutAnswer,
}

#[derive(Debug)]
struct Wire {
    mode: Mutex<Mode>,
    streams: Mutex<Vec<TcpStream>>,
    cuts: AtomicU64,
}

/// A listening wire; it lasts as long as the process.
#[derive(Debug, Clone)]
pub struct Proxy {
    wire: Arc<Wire>,
    port: u16,
}

impl Proxy {
    /// Listens on a free port for whoever wants to speak with `port`.
    pub fn to(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let own = listener.local_addr()?.port();
        let wire = Wire {
            mode: Mutex::new(Mode::Pass),
            streams: Mutex::default(),
            cuts: AtomicU64::new(0),
        };
        let wire = Arc::new(wire);
        let accepting = Arc::clone(&wire);
        thread::Builder::new().spawn(move || accept(&accepting, &listener, port))?;
        Ok(Self { wire, port: own })
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From here on it behaves so. A wire that was cut goes back to passing.
    pub fn set(&self, mode: Mode) {
        *self.wire.mode() = mode;
    }

    /// How it behaves now.
    #[must_use]
    pub fn mode(&self) -> Mode {
        *self.wire.mode()
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.wire.cut();
    }

    /// How often it was cut.
    #[must_use]
    pub fn cuts(&self) -> u64 {
        self.wire.cuts.load(Ordering::SeqCst)
    }
}

impl Wire {
    fn mode(&self) -> MutexGuard<'_, Mode> {
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

    /// Whether this is the moment to cut.
    fn is_cut_by(&self, speaker: Mode) -> bool {
        let mut mode = self.mode();
        if *mode != speaker {
            return false;
        }
        *mode = Mode::Pass;
        true
    }
}

fn accept(wire: &Arc<Wire>, listener: &TcpListener, port: u16) {
    for client in listener.incoming().flatten() {
        // A server that is down is a connection that is cut at once.
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        _ = (client.set_nodelay(true), server.set_nodelay(true));
        let Ok(copies) = [&client, &server].map(TcpStream::try_clone).into_iter().collect() else {
            continue;
        };
        let copies: Vec<TcpStream> = copies;
        wire.streams().extend(copies);
        let (from, to) = (client.try_clone(), server.try_clone());
        carry(wire, client, server, Mode::CutRequest);
        if let (Ok(to), Ok(from)) = (from, to) {
            carry(wire, from, to, Mode::CutAnswer);
        }
    }
}

/// Carries bytes one way until either end is closed or the wire is cut.
fn carry(wire: &Arc<Wire>, mut from: TcpStream, mut to: TcpStream, cut_by: Mode) {
    let wire = Arc::clone(wire);
    // Nobody waits for a wire; it ends with its connection.
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
