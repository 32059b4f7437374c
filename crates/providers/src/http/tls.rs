//! Encryption. The roots are the machine's own, plus those the user gave; `ring` does the work.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::fault::Fault;

/// How to encrypt. Reading the machine's certificates takes milliseconds: it is done when the
/// first encrypted connection is wanted.
pub(super) fn connector(extra_roots: &[Vec<u8>]) -> Result<TlsConnector, Fault> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let extra = extra_roots.iter().map(|der| CertificateDer::from(der.clone()));
    roots.add_parsable_certificates(extra);
    if roots.is_empty() {
        return Err(Fault::Insecure(
            "no root certificates were found; install ca-certificates or set SSL_CERT_FILE"
                .to_owned(),
        ));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Insecure(format!("no usable version of TLS: {error}")))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
