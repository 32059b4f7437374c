//! The variables of the OpenTelemetry specification that say where traces go and which.

use std::time::Duration;

use percent_encoding::percent_decode_str;

/// How long one export may take if `OTEL_EXPORTER_OTLP_TIMEOUT` does not say it.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where traces go, and what is in them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExportConfig {
    /// The address of the receiver.
    pub(super) url: String,
    /// Headers of each request, for example with a key.
    pub(super) headers: Vec<(String, String)>,
    /// How long one export may take.
    pub(super) timeout: Duration,
    /// What describes this process: `service.name` and the attributes of the environment.
    pub(super) resource: Vec<(String, String)>,
    /// The share of traces that are sent, from 0 to 1.
    pub(super) sampled_share: f64,
    /// Whether prompts, answers and arguments are part of the spans.
    pub(super) with_content: bool,
}

impl ExportConfig {
    /// Reads the variables; `None` if they name no receiver.
    pub(super) fn from_variables(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let is_set = |name: &str| variable(name).is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let Some(url) = receiver_url(variable) else { return Ok(None) };
        if is_set("OTEL_SDK_DISABLED") || exporter_is_off(variable)? {
            return Ok(None);
        }
        check_protocol(variable)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!(
                "OTEL_EXPORTER_OTLP_ENDPOINT: `{url}` is not an address; give http://HOST:PORT or https://HOST"
            ));
        }
        let sampled_share = sampled_share(variable)?;
        Ok(Some(Self {
            url,
            headers: headers(variable)?,
            timeout: timeout(variable)?,
            resource: resource(variable)?,
            sampled_share,
            with_content: is_set("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
        }))
    }
}

/// A variable for traces and the one for all signals; the first one that is set counts.
type VariablePair = [&'static str; 2];

const PROTOCOL: VariablePair =
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const HEADERS: VariablePair = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
const TIMEOUT: VariablePair = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];

/// The value of a pair, with the name of the variable that has it.
fn first_set(
    variable: &dyn Fn(&str) -> Option<String>,
    names: VariablePair,
) -> Option<(&'static str, String)> {
    names.into_iter().find_map(|name| variable(name).map(|value| (name, value)))
}

fn receiver_url(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(url) = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
        return Some(url);
    }
    let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    Some(format!("{}/v1/traces", base.trim_end_matches('/')))
}

fn exporter_is_off(variable: &dyn Fn(&str) -> Option<String>) -> Result<bool, String> {
    match variable("OTEL_TRACES_EXPORTER").as_deref() {
        None | Some("otlp") => Ok(false),
        Some("none") => Ok(true),
        Some(other) => Err(format!(
            "OTEL_TRACES_EXPORTER: `{other}` is not supported; use otlp, or none to send nothing"
        )),
    }
}

fn check_protocol(variable: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    match first_set(variable, PROTOCOL) {
        Some((name, protocol)) if protocol != "http/protobuf" => Err(format!(
            "{name}: `{protocol}` is not supported; use http/protobuf, usually at port 4318"
        )),
        Some(_) | None => Ok(()),
    }
}

fn headers(variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<(String, String)>, String> {
    first_set(variable, HEADERS).map_or(Ok(Vec::new()), |(name, text)| parse_pairs(name, &text))
}

/// `name=value` pairs with commas between them; values are percent-encoded.
fn parse_pairs(name: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let problem = || format!("{name}: it must be NAME=VALUE pairs with commas between them");
    let pair = |part: &str| {
        let (key, value) = part.split_once('=').ok_or_else(problem)?;
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| problem())?;
        Ok((key.trim().to_owned(), value.into_owned()))
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

fn timeout(variable: &dyn Fn(&str) -> Option<String>) -> Result<Duration, String> {
    let Some((name, text)) = first_set(variable, TIMEOUT) else { return Ok(DEFAULT_TIMEOUT) };
    let ms: Option<u64> = text.parse().ok().filter(|ms| *ms > 0);
    ms.map(Duration::from_millis)
        .ok_or_else(|| format!("{name}: `{text}` is not a number of milliseconds above zero"))
}

fn resource(variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<(String, String)>, String> {
    let name = "OTEL_RESOURCE_ATTRIBUTES";
    let mut found = variable(name).map_or(Ok(Vec::new()), |text| parse_pairs(name, &text))?;
    let own = variable("OTEL_SERVICE_NAME");
    if own.is_some() || !found.iter().any(|(key, _)| key == "service.name") {
        found.retain(|(key, _)| key != "service.name");
        let service = own.unwrap_or_else(|| "windlass".to_owned());
        found.insert(0, ("service.name".to_owned(), service));
    }
    found.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    Ok(found)
}

fn sampled_share(variable: &dyn Fn(&str) -> Option<String>) -> Result<f64, String> {
    let Some(sampler) = variable("OTEL_TRACES_SAMPLER") else { return Ok(1.0) };
    match sampler.trim_start_matches("parentbased_") {
        "always_on" => Ok(1.0),
        "always_off" => Ok(0.0),
        "traceidratio" => {
            let text = variable("OTEL_TRACES_SAMPLER_ARG").unwrap_or_else(|| "1".to_owned());
            let share: Option<f64> = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            share.ok_or_else(|| {
                format!("OTEL_TRACES_SAMPLER_ARG: `{text}` is not a number from 0 to 1")
            })
        }
        _ => Err(format!(
            "OTEL_TRACES_SAMPLER: `{sampler}` is not supported; use always_on, always_off or traceidratio"
        )),
    }
}
