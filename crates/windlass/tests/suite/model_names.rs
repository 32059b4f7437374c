//! A model by its name, through the builder alone.

use std::sync::Arc;

use windlass::core::context::Summariser;
use windlass::memory::MemoryStore;
use windlass::models::{CallOptions, ModelRegistry, ProviderTable, SharedServices};
use windlass::{BuildError, SystemClock, Windlass};

fn models() -> ModelRegistry {
    let shared = SharedServices::new(Arc::new(SystemClock::start()));
    ModelRegistry::new(
        shared,
        ProviderTable::built_in(),
        CallOptions::default(),
        Arc::new(|_: &str| None),
    )
}

/// Does what the command line does for `--model`.
// spec: MODELS-10
#[tokio::test]
async fn a_name_brings_the_newest_of_its_family_its_price_and_its_cheap_model() {
    for (name, model, cheap) in [
        ("sonnet", "claude-sonnet-5-5", "claude-haiku-5-5"),
        ("opus", "claude-opus-5-5", "claude-haiku-5-5"),
        ("gpt-6-sol", "gpt-6-sol", "gpt-6-luna"),
    ] {
        let builder = Windlass::builder().store(MemoryStore::new()).model_by_name(models(), name);
        let builder = builder.settings(|settings| {
            assert_eq!(&*settings.model.name, model);
            assert!(settings.model.price.is_some(), "{name}");
            let Summariser::Model(summariser) = &settings.window.summariser else {
                panic!("{name}: the cheap model of the family sums up")
            };
            assert_eq!(&*summariser.name, cheap);
        });
        builder.start().await.unwrap();
    }
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_told_at_the_start() {
    let builder = Windlass::builder().store(MemoryStore::new());
    let told = builder.model_by_name(models(), "a-model-of-nobody").start().await;
    let Err(error) = told else { panic!("it started") };
    assert!(matches!(error, BuildError::UnknownModel(_)), "{error}");
    assert!(error.to_string().contains("a-model-of-nobody"), "{error}");
}
