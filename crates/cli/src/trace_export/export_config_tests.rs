use std::time::Duration;

use super::export_config::ExportConfig;

fn read(variables: &[(&str, &str)]) -> Result<Option<ExportConfig>, String> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    ExportConfig::from_variables(&variable)
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");

#[test]
fn nothing_is_sent_unless_a_receiver_is_named() {
    assert_eq!(read(&[]), Ok(None));
    assert_eq!(read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
    assert_eq!(read(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
}

#[test]
fn the_variables_of_the_specification_are_honored() {
    let config = read(&[ENDPOINT]).unwrap().unwrap();
    assert_eq!(config.url, "http://localhost:4318/v1/traces");
    assert_eq!(config.resource[0], ("service.name".to_owned(), "windlass".to_owned()));
    assert!(!config.with_content);
    let config = read(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/otel"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc, x-team=a"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment=test"),
        ("OTEL_SERVICE_NAME", "agents"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ]);
    let config = config.unwrap().unwrap();
    assert_eq!(config.url, "https://traces.example/otel");
    assert_eq!(config.headers[0], ("authorization".to_owned(), "Basic abc".to_owned()));
    assert_eq!(config.timeout, Duration::from_millis(250));
    let keys: Vec<_> = config.resource.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["service.name", "deployment.environment", "service.version"]);
    assert_eq!(config.resource[0].1, "agents");
    assert!((config.sampled_share - 0.25).abs() < f64::EPSILON && config.with_content);
}

#[test]
fn a_value_that_cannot_be_used_is_named() {
    let wrong =
        |name: &'static str, value: &'static str| read(&[ENDPOINT, (name, value)]).unwrap_err();
    assert!(wrong("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc").contains("use http/protobuf"));
    assert!(wrong("OTEL_EXPORTER_OTLP_TIMEOUT", "soon").contains("`soon` is not a number"));
    assert!(wrong("OTEL_EXPORTER_OTLP_HEADERS", "no pair").contains("NAME=VALUE"));
    assert!(wrong("OTEL_TRACES_SAMPLER", "dice").contains("`dice` is not supported"));
    assert!(wrong("OTEL_TRACES_EXPORTER", "zipkin").contains("`zipkin` is not supported"));
    assert!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")]).is_err());
}
