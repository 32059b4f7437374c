//! TLS for the PostgreSQL driver, with the TLS library of the rest of the program.

use std::path::Path;
use std::sync::Arc;

use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use windlass_runtime::ports::StoreError;

use super::server_address::CertificateTrust;
use crate::validation::invalid_argument;

/// Returns what encrypts connections: the handshake, and channel binding for the server's login
/// (`tls-server-end-point`).
pub(super) fn make_connector(trust: &CertificateTrust) -> Result<MakeRustlsConnect, StoreError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid_argument(format!("TLS setup failed ({error})")))?;
    let config = match trust {
        CertificateTrust::AnyCertificate => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
            .with_no_client_auth(),
        CertificateTrust::SystemRoots => {
            builder.with_root_certificates(system_roots()).with_no_client_auth()
        }
        CertificateTrust::RootsFile(path) => {
            builder.with_root_certificates(roots_from_file(path)?).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

fn roots_from_file(path: &Path) -> Result<RootCertStore, StoreError> {
    let refuse = |reason: String| {
        let path = path.display();
        invalid_argument(format!(
            "the certificates in {path} cannot be read ({reason}); fix sslrootcert"
        ))
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| refuse(e.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refuse(error.to_string()))?;
        roots.add(certificate).map_err(|error| refuse(error.to_string()))?;
    }
    if roots.is_empty() {
        Err(refuse("the file contains no certificates".to_owned()))
    } else {
        Ok(roots)
    }
}

/// Accepts any certificate, for the modes that ask for encryption without verification. Signatures
/// are still checked, so the server holds the key of the certificate it shows.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
