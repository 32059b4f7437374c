//! Finds the authorization server of a server, also by the rules of older specifications.

use serde_json::Value;

use super::OAuthError;
use super::challenge::Challenge;
use super::metadata::{Discovered, ResourceMetadata, ServerMetadata};
use super::web::{Web, check_url, origin_and_path, shown};

/// Finds the authorization server of the server at a URL.
pub(super) async fn discover(
    web: &Web,
    url: &str,
    challenge: &Challenge,
    given_metadata: Option<&str>,
) -> Result<Discovered, OAuthError> {
    let found = find_resource_metadata(web, url, challenge).await?;
    let Some(resource) = found else {
        // The specification of 2025-03-26: the server is its own authorization server.
        let (origin, _) = origin_and_path(url);
        let found = match given_metadata {
            Some(given) => read_server(web, given, None).await?,
            None => find_server_metadata(web, origin, IssuerCheck::Origin).await?,
        };
        let is_assumed = found.is_none();
        let server = found.unwrap_or_else(|| assumed_server(origin));
        let resource = canonical_url(url);
        return Ok(Discovered { resource, resource_scopes: None, server, is_assumed });
    };
    let named = resource.resource.clone().unwrap_or_else(|| canonical_url(url));
    check_resource(url, &named)?;
    let (origin, _) = origin_and_path(url);
    let issuer = resource.authorization_servers.first().map_or(origin, String::as_str);
    let server = match given_metadata {
        Some(given) => read_server(web, given, None).await?,
        None => find_server_metadata(web, issuer, IssuerCheck::Exact).await?,
    };
    let server = server.ok_or_else(|| {
        let issuer = shown(issuer);
        OAuthError::Refused(format!("the authorization server {issuer} has no metadata"))
    })?;
    let resource_scopes = resource.scopes_supported;
    Ok(Discovered { resource: named, resource_scopes, server, is_assumed: false })
}

async fn find_resource_metadata(
    web: &Web,
    url: &str,
    challenge: &Challenge,
) -> Result<Option<ResourceMetadata>, OAuthError> {
    let (origin, path) = origin_and_path(url);
    let path = path.trim_end_matches('/');
    let well_known = format!("{origin}/.well-known/oauth-protected-resource");
    let mut places: Vec<String> = challenge.resource_metadata.iter().cloned().collect();
    if places.is_empty() {
        places = vec![format!("{well_known}{path}"), well_known];
        places.dedup();
    }
    for place in places {
        if let Some(found) = web.find_json(&place).await?
            && found.is_object()
        {
            let metadata = serde_json::from_value(found)
                .map_err(|error| OAuthError::Refused(format!("{}: {error}", shown(&place))))?;
            return Ok(Some(metadata));
        }
    }
    Ok(None)
}

/// A server may only name itself: otherwise its tokens would be good for another server.
fn check_resource(url: &str, named: &str) -> Result<(), OAuthError> {
    let (origin, path) = origin_and_path(url);
    let (named_origin, named_path) = origin_and_path(named);
    let named_path = named_path.trim_end_matches('/');
    let is_same_origin = origin.eq_ignore_ascii_case(named_origin);
    let is_above =
        path.strip_prefix(named_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match is_same_origin && is_above {
        true => Ok(()),
        false => Err(OAuthError::Refused(format!(
            "the server at {} says that it is {}; a token for it would be good for another server",
            shown(url),
            shown(named)
        ))),
    }
}

/// How the name of an authorization server must agree with where it was found.
#[derive(Debug, Clone, Copy)]
enum IssuerCheck {
    /// It must be the same: a server named it.
    Exact,
    /// It must be on the same machine: the specification of 2025-03-26 says nothing of its path.
    Origin,
}

impl IssuerCheck {
    fn accepts(self, issuer: &str, found: &ServerMetadata) -> bool {
        match self {
            Self::Exact => issuer.trim_end_matches('/') == found.issuer.trim_end_matches('/'),
            Self::Origin => origin_and_path(issuer).0 == origin_and_path(&found.issuer).0,
        }
    }
}

/// Looks for the metadata of an authorization server at every place where it may be.
async fn find_server_metadata(
    web: &Web,
    issuer: &str,
    check: IssuerCheck,
) -> Result<Option<ServerMetadata>, OAuthError> {
    let (origin, path) = origin_and_path(issuer);
    let path = path.trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    for place in places {
        if let Some(found) = read_server(web, &place, Some((issuer, check))).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

async fn read_server(
    web: &Web,
    place: &str,
    expected: Option<(&str, IssuerCheck)>,
) -> Result<Option<ServerMetadata>, OAuthError> {
    let Some(found) = web.find_json(place).await?.filter(Value::is_object) else {
        return Ok(None);
    };
    let found: ServerMetadata = serde_json::from_value(found)
        .map_err(|error| OAuthError::Refused(format!("{}: {error}", shown(place))))?;
    if let Some((issuer, _)) = expected.filter(|(issuer, check)| !check.accepts(issuer, &found)) {
        return Err(OAuthError::Refused(format!(
            "the authorization server {} says that it is {}",
            shown(issuer),
            shown(&found.issuer)
        )));
    }
    check_url(&found.token_endpoint)?;
    Ok(Some(found))
}

/// An authorization server without metadata, at the default addresses of 2025-03-26.
fn assumed_server(origin: &str) -> ServerMetadata {
    ServerMetadata {
        issuer: origin.to_owned(),
        authorization_endpoint: format!("{origin}/authorize"),
        token_endpoint: format!("{origin}/token"),
        registration_endpoint: Some(format!("{origin}/register")),
        ..ServerMetadata::default()
    }
}

/// The URL of a server as the audience of a token: without query and fragment.
pub(super) fn canonical_url(url: &str) -> String {
    let (origin, path) = origin_and_path(url);
    format!("{}{}", origin.to_ascii_lowercase(), path.trim_end_matches('/'))
}
