//! The model registry: creates the model that a name in a conversation's settings selects.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use windlass_core::context::Summariser;
use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_core::settings::conversation_settings::Settings;
use windlass_runtime::ports::{BoxFuture, Model, ReplyObserver};

use crate::call::call_notice::CallNotice;
use crate::call::call_options::CallOptions;
use crate::call::endpoint::{Endpoint, SharedServices};
use crate::call::remote_model::RemoteModel;
use crate::catalog::model_description::{ModelDescription, describe_model};
use crate::catalog::provider_table::{ProviderError, ProviderTable};

/// A lookup of variables: the environment, or a test's own.
pub type EnvLookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Every model that a name can select. Each one is created at its first call.
pub struct ModelRegistry {
    shared: SharedServices,
    providers: ProviderTable,
    options: CallOptions,
    variables: EnvLookup,
    instances: Mutex<HashMap<Arc<str>, Arc<RemoteModel>>>,
}

impl ModelRegistry {
    /// Creates a registry of the models of these providers, with keys from `variables`.
    #[must_use]
    pub fn new(
        shared: SharedServices,
        providers: ProviderTable,
        options: CallOptions,
        variables: EnvLookup,
    ) -> Self {
        Self { shared, providers, options, variables, instances: Mutex::default() }
    }

    /// Returns the model of a name.
    ///
    /// # Errors
    ///
    /// Returns a [`ModelFailure`] if no provider is known for the name, or its key or base URL is
    /// missing or cannot be used.
    pub fn get(&self, name: &Arc<str>) -> Result<Arc<RemoteModel>, ModelFailure> {
        let mut made = self.instances.lock();
        if let Some(remote) = made.get(name) {
            return Ok(Arc::clone(remote));
        }
        let endpoint = self.resolve_endpoint(name).map_err(|error| to_failure(&error))?;
        let remote = RemoteModel::new(endpoint, self.shared.clone(), self.options.clone())?;
        let remote = Arc::new(remote);
        made.insert(Arc::clone(name), Arc::clone(&remote));
        Ok(remote)
    }

    /// Describes a model without a network call or a key. Short names such as `sonnet` mean the
    /// newest model of their family.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if no provider is known for the name.
    pub fn describe(&self, name: &str) -> Result<ModelDescription, ProviderError> {
        describe_model(&self.providers, &self.shared.capabilities, self.options.cache, name)
    }

    /// Returns settings for a conversation with the model of this name: the model, and the cheap
    /// model of its family as the summariser.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if no provider is known for the name.
    pub fn settings_for(&self, name: &str) -> Result<Settings, ProviderError> {
        let ModelDescription { model, summary_model, .. } = self.describe(name)?;
        let mut settings = Settings::new(model);
        settings.window.summariser = summary_model.map_or(Summariser::OwnModel, Summariser::Model);
        Ok(settings)
    }

    /// Returns the default model: that of the first provider with a key.
    #[must_use]
    pub fn default_model(&self) -> Option<String> {
        self.providers.default_model(self.variables.as_ref())
    }

    /// Returns notices about the settings that the model does not support and would be called
    /// without.
    ///
    /// # Errors
    ///
    /// Returns an error if the model cannot be called at all.
    pub fn unsupported_settings(
        &self,
        settings: &Arc<Settings>,
    ) -> Result<Vec<CallNotice>, ModelFailure> {
        Ok(self.get(&settings.model.name)?.unsupported_settings(settings))
    }

    fn resolve_endpoint(&self, name: &str) -> Result<Endpoint, ProviderError> {
        let (provider, model) = self.providers.find(name)?;
        let variables = self.variables.as_ref();
        Ok(Endpoint {
            provider: Arc::clone(&provider.name),
            format: provider.format,
            base_url: provider.resolve_base_url(&variables)?,
            credential: provider.resolve_credential(&variables)?,
            dialect: provider.dialect,
            model: Arc::from(model),
        })
    }
}

impl Model for ModelRegistry {
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        Box::pin(async move {
            let remote = self.get(&request.settings.model.name)?;
            remote.call(request, stream).await
        })
    }
}

impl std::fmt::Debug for ModelRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("providers", &self.providers).finish_non_exhaustive()
    }
}

fn to_failure(error: &ProviderError) -> ModelFailure {
    let message = Arc::from(error.to_string());
    ModelFailure { class: FailureClass::Permanent, message, retry_after_ms: None, raw: None }
}
