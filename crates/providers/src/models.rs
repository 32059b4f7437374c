//! All models of a process: the name in a conversation's settings chooses the one that is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::input::{Failure, FailureClass};
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_core::settings::Settings;
use windlass_core::window::Summariser;
use windlass_runtime::ports::{Model, Stream, Task};

use crate::describe::{Described, describe};
use crate::endpoint::{Endpoint, Shared};
use crate::names::{Error, Providers};
use crate::notice::Notice;
use crate::options::Options;
use crate::remote::Remote;

/// Where variables are looked up: the environment, or a test's own.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Every model that a name can choose. Each is made when it is first asked.
pub struct Models {
    shared: Shared,
    providers: Providers,
    options: Options,
    variables: Variables,
    made: Mutex<HashMap<Arc<str>, Arc<Remote>>>,
}

impl Models {
    /// Models of these providers, with keys from `variables`.
    #[must_use]
    pub fn new(
        shared: Shared,
        providers: Providers,
        options: Options,
        variables: Variables,
    ) -> Self {
        Self { shared, providers, options, variables, made: Mutex::default() }
    }

    /// The model of a name.
    pub fn named(&self, name: &Arc<str>) -> Result<Arc<Remote>, Failure> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remote) = made.get(name) {
            return Ok(Arc::clone(remote));
        }
        let endpoint = self.endpoint(name).map_err(|error| failure(&error))?;
        let remote = Remote::new(endpoint, self.shared.clone(), self.options.clone())?;
        let remote = Arc::new(remote);
        made.insert(Arc::clone(name), Arc::clone(&remote));
        Ok(remote)
    }

    /// What a conversation's settings say of a model; asks nobody, and needs no key. Short names
    /// such as `sonnet` mean the newest model of their family.
    pub fn describe(&self, name: &str) -> Result<Described, Error> {
        describe(&self.providers, &self.shared.capabilities, self.options.cache, name)
    }

    /// Settings for a conversation with the model of this name: the model, and the cheap model of
    /// its family to sum up.
    ///
    /// # Errors
    ///
    /// If no provider is known for the name.
    pub fn settings(&self, name: &str) -> Result<Settings, Error> {
        let Described { model, summary_model, .. } = self.describe(name)?;
        let mut settings = Settings::new(model);
        settings.window.summariser = summary_model.map_or(Summariser::Own, Summariser::Model);
        Ok(settings)
    }

    /// The model to ask where nobody named one: that of the first provider with a key.
    #[must_use]
    pub fn default_model(&self) -> Option<String> {
        self.providers.default_model(self.variables.as_ref())
    }

    /// What the model of these settings would be asked without, because it does not have it.
    ///
    /// # Errors
    ///
    /// If the model cannot be asked at all.
    pub fn without_effect(&self, settings: &Arc<Settings>) -> Result<Vec<Notice>, Failure> {
        Ok(self.named(&settings.model.name)?.without_effect(settings))
    }

    fn endpoint(&self, name: &str) -> Result<Endpoint, Error> {
        let (provider, model) = self.providers.find(name)?;
        let variables = self.variables.as_ref();
        Ok(Endpoint {
            provider: Arc::clone(&provider.name),
            format: provider.format,
            base_url: provider.address(&variables)?,
            credential: provider.credential(&variables)?,
            dialect: provider.dialect,
            model: Arc::from(model),
        })
    }
}

impl Model for Models {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(async move {
            let remote = self.named(&request.settings.model.name)?;
            remote.ask(request, stream).await
        })
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("providers", &self.providers).finish_non_exhaustive()
    }
}

fn failure(error: &Error) -> Failure {
    let message = Arc::from(error.to_string());
    Failure { class: FailureClass::Lasting, message, retry_after_ms: None, raw: None }
}
