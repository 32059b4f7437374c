//! `docs/configuration.md` against the types that `config.toml` is read into.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use windlass::core::settings::conversation_settings::Settings;
use windlass::core::settings::limits::{Limits, RunTimeLimits};
use windlass::core::settings::settings_validation::InvalidSettings;
use windlass::{ModelSettings, RetentionPolicy};

use super::{PageSection, find_section, quoted_names, read_page};
use crate::config::config_toml::Config;

const LIMITS: &str = "`[profiles.NAME.limits]` and `--set`";
const TIMES: &str = "`[profiles.NAME.times]`";
const WINDOW: &str = "`[profiles.NAME.window]`";
const THRESHOLDS: &str = "`[profiles.NAME.window.thresholds]`";

/// Returns the keys of the table at this path of `config.toml`, from the error about an unknown one.
fn keys_at(table: &str) -> BTreeSet<String> {
    let header = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
    let error = toml::from_str::<Config>(&format!("{header}\"no such key\" = 1\n"));
    expected_names(&error.unwrap_err().to_string())
}

/// Returns the keys of a type that a profile is laid over.
fn keys_of<T: DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(r#"{"no such key": 1}"#).err().unwrap();
    expected_names(&error.to_string())
}

fn expected_names(error: &str) -> BTreeSet<String> {
    let (_, expected) = error.split_once("expected").unwrap_or_else(|| panic!("{error}"));
    quoted_names(expected).into_iter().collect()
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn the_page_has_every_key_and_no_other() {
    let page = read_page("configuration.md");
    let listed = |heading: &str| find_section(&page, heading).names();
    let controls = listed("Model controls");
    let with = |own: BTreeSet<String>, more: &BTreeSet<String>| &own | more;

    let tables =
        names(["keep", "models", "profiles", "providers", "sandbox", "terminal", "tools", "web"]);
    let top = with(listed("Top-level keys"), &tables);
    assert_eq!(with(top, &controls), keys_at(""));
    assert_eq!(with(listed("`[profiles.NAME]`"), &controls), keys_at("profiles.x"));
    assert_eq!(listed("`[providers.NAME]`"), keys_at("providers.x"));
    assert_eq!(listed("`[providers.NAME.dialect]`"), keys_at("providers.x.dialect"));
    assert_eq!(listed("`[models.NAME]`"), keys_at("models.x"));
    assert_eq!(listed("`[models.NAME.prices]`"), keys_at("models.x.prices"));
    assert_eq!(listed("`[models.NAME.prices.above]`"), keys_at("models.x.prices.above"));
    assert_eq!(listed("`[keep]`"), keys_at("keep"));
    assert_eq!(listed("`[sandbox]`"), keys_at("sandbox"));
    assert_eq!(listed("`[terminal]`"), keys_at("terminal"));
    assert_eq!(listed("`[web]`"), keys_at("web"));
    assert_eq!(listed("`[tools.NAME]`"), keys_at("tools.x"));

    assert_eq!(listed(LIMITS), keys_of::<Limits>());
    assert_eq!(listed(TIMES), keys_of::<RunTimeLimits>());
    let settings = default_settings();
    // A profile cannot switch the stages of compaction; they are for programs.
    let stages = names(["snip", "micro", "collapse", "auto"]);
    let window = keys_of_value(&settings.window);
    assert_eq!(listed(WINDOW), &window - &stages);
    assert_eq!(listed(THRESHOLDS), keys_of_value(&settings.window.thresholds));
}

/// Returns the keys of the type of a value.
fn keys_of_value<T: DeserializeOwned>(_: &T) -> BTreeSet<String> {
    keys_of::<T>()
}

fn default_settings() -> Settings {
    Settings::new(ModelSettings::with_defaults("a-model"))
}

#[test]
fn defaults_are_those_of_the_code() {
    let page = read_page("configuration.md");
    let settings = default_settings();
    check_defaults(find_section(&page, LIMITS), &Limits::default());
    check_defaults(find_section(&page, TIMES), &RunTimeLimits::default());
    check_defaults(find_section(&page, THRESHOLDS), &settings.window.thresholds);
    let keep = find_section(&page, "`[keep]`");
    let policy = RetentionPolicy::default();
    assert_eq!(default_of(keep, "raw_days"), Some(policy.raw_days.into()));
    assert_eq!(default_of(keep, "trace_days"), Some(policy.trace_days.into()));
}

/// Reads a value from what the page states as defaults; it must equal the default of the type.
fn check_defaults<T: DeserializeOwned + PartialEq + std::fmt::Debug>(
    section: &PageSection,
    default: &T,
) {
    for name in section.names() {
        let stated = default_of(section, &name).unwrap_or(Value::Null);
        let table = Value::Object(Map::from_iter([(name.clone(), stated)]));
        let read: T = serde_json::from_value(table).unwrap();
        assert_eq!(&read, default, "{name}");
    }
}

/// Returns the default that the page states for a key: `None` for none.
fn default_of(section: &PageSection, name: &str) -> Option<Value> {
    let of_name = |row: &&Vec<String>| row[0] == format!("`{name}`");
    let stated = &section.rows.iter().find(of_name).unwrap()[2];
    let plain = stated.trim_matches('`').replace(',', "");
    let list = stated.trim_matches('`');
    match &*plain {
        "none" => None,
        _ if list.starts_with('[') => Some(serde_json::from_str(list).unwrap()),
        _ => Some(serde_json::from_str(&plain).unwrap_or_else(|_| panic!("{name}: {stated}"))),
    }
}

#[test]
fn ranges_are_those_of_the_code() {
    let page = read_page("configuration.md");
    for row in &find_section(&page, LIMITS).rows {
        let name = quoted_names(&row[0]).remove(0);
        let Some((least, limit)) = plain_range(&row[3]) else { continue };
        let mut table = Map::new();
        table.insert(name.clone(), Value::from(limit + 1));
        // A number that does not fit the type is out of range as well.
        let Ok(limits) = serde_json::from_value(Value::Object(table)) else { continue };
        let settings = Settings { limits, ..default_settings() };
        match settings.validate() {
            Err(InvalidSettings::OutOfRange { least: smallest, most: largest, .. }) => {
                assert_eq!((smallest, largest), (least, limit), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Parses a range such as `1 to 10,000`.
fn plain_range(text: &str) -> Option<(u64, u64)> {
    let (least, most) = text.split_once(" to ")?;
    let number = |text: &str| text.replace(',', "").parse().ok();
    Some((number(least)?, number(most)?))
}

#[test]
fn set_takes_the_limits_and_the_names_that_the_page_lists() {
    let page = read_page("configuration.md");
    assert_eq!(find_section(&page, "Other names of `--set`").names(), names(["durability"]));
}
