//! TLS client configuration: the system's root certificates plus those of the user, with `ring`.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::call_error::CallError;

/// Builds the TLS configuration. Reading the system's certificates takes milliseconds, so this is
/// done for the first encrypted connection.
pub(super) fn build_tls_connector(extra_roots: &[Vec<u8>]) -> Result<TlsConnector, CallError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let extra = extra_roots.iter().map(|der| CertificateDer::from(der.clone()));
    roots.add_parsable_certificates(extra);
    if roots.is_empty() {
        return Err(CallError::TlsFailed(
            "no root certificates were found; install ca-certificates or set SSL_CERT_FILE"
                .to_owned(),
        ));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| CallError::TlsFailed(format!("no supported TLS version: {error}")))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
