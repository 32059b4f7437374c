//! HTTPS with a certificate from files.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::{ServerError, TlsFiles};

/// Reads the certificate and its key.
pub(crate) fn open_acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServerError> {
    let unusable = |path: &std::path::Path, reason: String| ServerError::Certificate {
        path: path.to_owned(),
        reason,
    };
    let read = CertificateDer::pem_file_iter(&files.certificate).and_then(Iterator::collect);
    let chain: Vec<_> = read.map_err(|error| unusable(&files.certificate, error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(|error| unusable(&files.key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let config = config.map_err(|error| unusable(&files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
