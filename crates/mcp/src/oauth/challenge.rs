//! The header `WWW-Authenticate` of a server that requires a login.

/// What a server says about the login that it requires.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Where the metadata of the resource is.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that are required.
    pub(super) scope: Option<String>,
    /// What is wrong with the token.
    pub(super) error: Option<String>,
}

impl Challenge {
    /// Reads the parameters of a bearer challenge. What is not understood is left out.
    pub(super) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        let lower = header.to_ascii_lowercase();
        let Some(start) = lower.find("bearer") else { return challenge };
        let mut rest = header.get(start + "bearer".len()..).unwrap_or_default();
        while let Some((name, value, behind)) = next_parameter(rest) {
            match name {
                "resource_metadata" => challenge.resource_metadata = Some(value),
                "scope" => challenge.scope = Some(value),
                "error" => challenge.error = Some(value),
                _ => {}
            }
            rest = behind;
        }
        challenge
    }
}

/// Returns the next `name="value"` and what is behind it.
fn next_parameter(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.split_once('=')?;
    let name = name.trim_start_matches([',', ' ', '\t']).trim_end();
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', ' ']).unwrap_or(rest.len());
        let (value, behind) = rest.split_at(end);
        return Some((name, value.to_owned(), behind));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, value, quoted.get(at + 1..).unwrap_or_default())),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    None
}
