//! A model behind HTTP, in any wire format.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Uri};
use parking_lot::{Mutex, RwLock};
use windlass_core::log::input::ModelFailure;
use windlass_core::log::record::ToolChoice;
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::Settings;
use windlass_runtime::ports::{BoxFuture, Model, ReplyObserver};

use crate::call::call_attempt::{CallAttempt, CompletedAttempt, FailedAttempt};
use crate::call::call_notice::CallNotice;
use crate::call::call_options::{CallOptions, ReplyDelivery};
use crate::call::conversation_state::ConversationStates;
use crate::call::endpoint::{Endpoint, SharedServices, user_agent_with};
use crate::call::learned_limits::RejectionHint;
use crate::call::rate_limiter::RateGate;
use crate::call::request_plan::{ModelProfile, RequestPlan};
use crate::catalog::provider_table::WireFormat;
use crate::error::call_error::CallError;
use crate::http::ApiTarget;
use crate::secret::Redactor;
use crate::wire::decode_context::DecodeContext;
use crate::wire::wire_formats;
use crate::wire::wire_protocol::{AttemptOptions, DecodedReply, PriorThinking, WireProtocol};

/// How often a rejected call is adjusted and retried before it counts as rejected.
const MAX_ADJUSTED_RETRIES: usize = 3;

/// A model behind HTTP.
pub struct RemoteModel {
    shared: SharedServices,
    endpoint: Endpoint,
    options: CallOptions,
    wire: Arc<dyn WireProtocol>,
    target: ApiTarget,
    path: Uri,
    headers: HeaderMap,
    gate: Arc<RateGate>,
    redactor: Redactor,
    profile: RwLock<Arc<ModelProfile>>,
    delivery: Mutex<ReplyDelivery>,
    conversations: ConversationStates,
}

impl RemoteModel {
    /// Creates a model. The base URL and the key are checked at once.
    ///
    /// # Errors
    ///
    /// Returns a [`ModelFailure`] if the base URL or the key cannot be used.
    pub fn new(
        endpoint: Endpoint,
        shared: SharedServices,
        options: CallOptions,
    ) -> Result<Self, ModelFailure> {
        let redactor =
            Redactor::new(endpoint.credential.secret().into_iter().chain(shared.client.secrets()));
        let failure = |fault: &CallError| fault.to_failure(&redactor);
        let target = ApiTarget::parse(endpoint.api_root()).map_err(|fault| failure(&fault))?;
        let mut headers = endpoint.base_headers().map_err(|fault| failure(&fault))?;
        let wire = wire_formats::new_protocol(endpoint.format, &endpoint.model);
        wire.add_headers(&mut headers);
        if let Some(comment) = &options.client_comment {
            headers.insert(http::header::USER_AGENT, user_agent_with(comment));
        }
        headers.insert(http::header::HOST, target.host_header.clone());
        let path = target.uri(wire.path()).map_err(|fault| failure(&fault))?;
        let known = build_profile(&endpoint, &shared, &options);
        Ok(Self {
            gate: shared.limiter.gate_for(&endpoint.limiter_key()),
            profile: RwLock::new(Arc::new(known)),
            delivery: Mutex::new(options.delivery),
            conversations: ConversationStates::default(),
            shared,
            endpoint,
            options,
            wire,
            target,
            path,
            headers,
            redactor,
        })
    }

    /// Returns the model's endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the body that would be sent for `request`, for benchmarks and debugging.
    #[must_use]
    pub fn request_body(&self, request: &ModelRequest) -> Vec<Bytes> {
        let known = self.current_profile();
        self.wire.encode_body(&RequestPlan::new(
            &known,
            request,
            self.attempt_options(request, &known),
        ))
    }

    /// Returns notices about the settings that the model does not support and would be called
    /// without.
    #[must_use]
    pub fn unsupported_settings(&self, settings: &Arc<Settings>) -> Vec<CallNotice> {
        let request = ModelRequest {
            model_call: 0,
            settings: Arc::clone(settings),
            transcript: Transcript::default(),
            loaded_tools: LoadedTools::default(),
            max_tokens: settings.model.max_tokens,
            choice: ToolChoice::Auto,
            journal_digest: Arc::from(""),
            task_remaining_tokens: None,
        };
        let known = self.current_profile();
        RequestPlan::new(&known, &request, self.attempt_options(&request, &known)).notices
    }

    /// Counts the input tokens of a request at the server.
    ///
    /// # Errors
    ///
    /// Returns a [`ModelFailure`] if the provider cannot count tokens or the call fails.
    pub async fn count_tokens(&self, request: &ModelRequest) -> Result<u64, ModelFailure> {
        if self.endpoint.format != WireFormat::AnthropicMessages {
            let fault = CallError::Misconfigured(
                "this provider cannot count tokens; /context shows an estimate".to_owned(),
            );
            return Err(fault.to_failure(&self.redactor));
        }
        let known = self.current_profile();
        let plan = RequestPlan::new(&known, request, self.attempt_options(request, &known));
        let body = self.wire.encode_count_tokens_body(&plan);
        let path = self.target.uri(&format!("{}/count_tokens", self.wire.path()));
        let path = path.map_err(|fault| fault.to_failure(&self.redactor))?;
        let text = self
            .new_attempt(&path, &self.headers)
            .fetch_text(body)
            .await
            .map_err(|failed| self.to_failure(&failed))?;
        #[derive(serde::Deserialize)]
        struct TokenCountResponse {
            input_tokens: u64,
        }
        serde_json::from_str(&text).map(|counted: TokenCountResponse| counted.input_tokens).map_err(
            |error| {
                let fault = CallError::Malformed(format!("invalid count_tokens response: {error}"));
                fault.to_failure(&self.redactor)
            },
        )
    }

    fn current_profile(&self) -> Arc<ModelProfile> {
        Arc::clone(&self.profile.read())
    }

    fn attempt_options(&self, request: &ModelRequest, known: &ModelProfile) -> AttemptOptions {
        AttemptOptions {
            max_tokens: known.clamp_output_tokens(request.max_tokens),
            delivery: *self.delivery.lock(),
            prior_thinking: self.conversations.prior_thinking(request),
        }
    }

    fn new_attempt<'a>(&'a self, path: &'a Uri, headers: &'a HeaderMap) -> CallAttempt<'a> {
        CallAttempt {
            wire: self.wire.as_ref(),
            client: &self.shared.client,
            gate: &self.gate,
            clock: self.shared.clock.as_ref(),
            target: &self.target,
            headers,
            path,
            deadlines: self.options.deadlines,
        }
    }

    async fn request_reply(
        &self,
        request: &ModelRequest,
        stream: &dyn ReplyObserver,
    ) -> Result<ModelReply, ModelFailure> {
        let mut ways = MAX_ADJUSTED_RETRIES;
        // The raw responses of attempts that were rejected before the call was adjusted.
        let mut refused: Vec<RawJson> = Vec::new();
        loop {
            let known = self.current_profile();
            let plan = RequestPlan::new(&known, request, self.attempt_options(request, &known));
            match self.attempt(&plan, stream).await {
                Ok(mut answered) => {
                    if !refused.is_empty() {
                        answered.decoded.envelope.insert_json("refused", RawJson::encode(&refused));
                    }
                    return Ok(self.finish_reply(answered, &plan));
                }
                Err(failed) if ways > 0 && self.adjust_after_rejection(&failed, &plan) => {
                    ways -= 1;
                    refused.extend(failed.raw_response.to_rejection_json(&self.redactor));
                }
                Err(failed) => return Err(self.to_failure(&failed)),
            }
        }
    }

    async fn attempt(
        &self,
        plan: &RequestPlan<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<CompletedAttempt, FailedAttempt> {
        let body = self.wire.encode_body(plan);
        let context = DecodeContext {
            model: Arc::clone(&self.endpoint.model),
            model_call: plan.request.model_call,
            body_bytes: body.iter().map(Bytes::len).sum(),
            stop_strings: plan.request.settings.stop_map.keys().cloned().collect(),
        };
        let headers = self.request_headers(plan)?;
        self.new_attempt(&self.path, &headers)
            .run(body, context, plan.attempt.delivery, stream)
            .await
    }

    fn request_headers(&self, plan: &RequestPlan<'_>) -> Result<Cow<'_, HeaderMap>, CallError> {
        if self.endpoint.format != WireFormat::AnthropicMessages {
            return Ok(Cow::Borrowed(&self.headers));
        }
        let Some(betas) = plan.beta_header()? else { return Ok(Cow::Borrowed(&self.headers)) };
        let mut headers = self.headers.clone();
        headers.insert("anthropic-beta", betas);
        Ok(Cow::Owned(headers))
    }

    /// Learns from the rejection and returns whether the adjusted call may be made.
    fn adjust_after_rejection(&self, failed: &FailedAttempt, plan: &RequestPlan<'_>) -> bool {
        let Some(lesson) = RejectionHint::from_error(&failed.fault).filter(|_| !failed.has_started)
        else {
            return false;
        };
        if let Some(learned) = lesson.to_learned_limits() {
            self.shared.capabilities.record_learned_limits(&self.endpoint.model, learned);
            let known = build_profile(&self.endpoint, &self.shared, &self.options);
            *self.profile.write() = Arc::new(known);
        }
        match lesson {
            RejectionHint::OutputLimit(tokens) => tokens < plan.attempt.max_tokens,
            RejectionHint::Window(_) => false,
            RejectionHint::StreamingUnsupported => {
                *self.delivery.lock() = ReplyDelivery::Whole;
                plan.attempt.delivery == ReplyDelivery::Streamed
            }
            RejectionHint::ForeignThinking => {
                self.conversations.omit_prior_thinking(plan.request);
                plan.attempt.prior_thinking == PriorThinking::Sent
            }
        }
    }

    fn finish_reply(&self, answered: CompletedAttempt, plan: &RequestPlan<'_>) -> ModelReply {
        let CompletedAttempt { decoded: DecodedReply { mut reply, mut envelope }, raw_response } =
            answered;
        raw_response.keep_in(&mut envelope, &self.redactor);
        // A setting that is left out is left out of every call: one notice is enough.
        let news =
            |notice: &&CallNotice| self.conversations.mark_notice_sent(plan.request, **notice);
        plan.notices.iter().filter(news).for_each(|notice| envelope.add_notice(*notice));
        if plan.attempt.max_tokens < plan.request.max_tokens {
            envelope.add_notice(CallNotice::OutputLimitLowered);
        }
        if plan.tool_choice.required_tool().is_some_and(|tool| !calls_tool(&reply, tool)) {
            envelope.add_notice(CallNotice::ToolChoiceIgnored);
        }
        reply.envelope = envelope.finish();
        reply
    }

    fn to_failure(&self, failed: &FailedAttempt) -> ModelFailure {
        let raw = failed.raw_response.to_failure_envelope(&self.redactor);
        let failure = if failed.has_started {
            failed.fault.to_failure_once_started(&self.redactor)
        } else {
            failed.fault.to_failure(&self.redactor)
        };
        ModelFailure { raw, ..failure }
    }
}

impl Model for RemoteModel {
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        Box::pin(async move { self.request_reply(&request, stream.as_ref()).await })
    }
}

impl std::fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn build_profile(
    endpoint: &Endpoint,
    shared: &SharedServices,
    options: &CallOptions,
) -> ModelProfile {
    let knowledge = shared.capabilities.lookup(&endpoint.model);
    let spoken = (endpoint.format, endpoint.dialect);
    ModelProfile::new(Arc::clone(&endpoint.model), spoken, options, knowledge)
}

/// Returns whether a reply calls the tool, or was truncated while it did.
fn calls_tool(reply: &ModelReply, tool: &str) -> bool {
    let cut = reply.truncated_block.as_ref().is_some_and(|cut| *cut.name == *tool);
    cut || reply.tool_uses().any(|(_, call)| *call.name == *tool)
}
