//! What the launcher and its helper say to each other: one JSON value per line.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Layers, Mechanism, Policy};

/// The name under which this program is started as the helper. Its arguments are the number of the
/// control descriptor, the program and the arguments of the program.
pub(crate) const HELPER_NAME: &str = "windlass-sandbox-exec";

/// Maximum length of a message in bytes.
pub(crate) const MAX_MESSAGE_BYTES: u64 = 4 * 1024 * 1024;

/// What the helper is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HelperRequest {
    pub(crate) policy: Policy,
    pub(crate) layers: Layers,
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) listeners: RequestedListeners,
}

/// Listeners in the network namespace of the process, which the launcher serves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestedListeners {
    /// The number of the descriptor over which they are sent.
    pub(crate) channel: Option<i32>,
    /// Their ports.
    pub(crate) ports: Vec<u16>,
}

/// What the helper reports.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HelperReport {
    /// The program was executed.
    Started {
        /// What confines it.
        mechanism: Mechanism,
        /// The process that everything else ends with.
        init: i32,
    },
    /// Nothing was started.
    Refused {
        /// Why.
        reason: String,
    },
    /// The kernel gives no namespaces.
    NoNamespaces {
        /// Why.
        reason: String,
    },
    /// The program has ended.
    Exited {
        /// The status, as `waitpid` returns it.
        status: i32,
    },
}
