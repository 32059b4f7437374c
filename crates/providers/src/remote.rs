//! A model behind HTTP, whatever it speaks.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use http::{HeaderMap, Uri};
use windlass_core::input::Failure;
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_core::settings::Settings;
use windlass_core::transcript::Transcript;
use windlass_runtime::ports::{Model, Stream, Task};

use crate::asked::Asked;
use crate::endpoint::{Endpoint, Shared};
use crate::exchange::{Answered, Exchange, Failed};
use crate::fault::{Begun, Fault};
use crate::http::Target;
use crate::lesson::Lesson;
use crate::limiter::Gate;
use crate::memory::Memory;
use crate::names::Format;
use crate::notice::Notice;
use crate::options::{Delivery, Options};
use crate::plan::{Known, Plan};
use crate::secret::Redactor;
use crate::wire::{Closed, How, Thoughts, Wire};
use crate::wires;

/// How often a refused call is made differently before it counts as refused.
const OTHER_WAYS: usize = 3;

/// A model behind HTTP.
pub struct Remote {
    shared: Shared,
    endpoint: Endpoint,
    options: Options,
    wire: Arc<dyn Wire>,
    target: Target,
    path: Uri,
    headers: HeaderMap,
    gate: Arc<Gate>,
    redactor: Redactor,
    learned: RwLock<Arc<Known>>,
    delivery: Mutex<Delivery>,
    memory: Memory,
}

impl Remote {
    /// A model that can be asked; an address or key that cannot work is said at once.
    pub fn new(endpoint: Endpoint, shared: Shared, options: Options) -> Result<Self, Failure> {
        let redactor =
            Redactor::new(endpoint.credential.secret().into_iter().chain(shared.client.secrets()));
        let failure = |fault: &Fault| fault.failure(Begun::No, &redactor);
        let target = Target::parse(endpoint.address()).map_err(|fault| failure(&fault))?;
        let mut headers = endpoint.headers().map_err(|fault| failure(&fault))?;
        let wire = wires::wire(endpoint.format, &endpoint.model);
        wire.headers(&mut headers);
        headers.insert(http::header::HOST, target.host_header.clone());
        let path = target.uri(wire.path()).map_err(|fault| failure(&fault))?;
        let known = known(&endpoint, &shared, &options);
        Ok(Self {
            gate: shared.limiter.gate(&endpoint.gate_name()),
            learned: RwLock::new(Arc::new(known)),
            delivery: Mutex::new(options.delivery),
            memory: Memory::default(),
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

    /// What it is and where.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The body a request would be sent with, for whoever measures or debugs.
    #[must_use]
    pub fn body(&self, request: &Request) -> Vec<Bytes> {
        let known = self.known();
        self.wire.body(&Plan::new(&known, request, self.how(request, &known)))
    }

    /// What it would be asked without, of what the settings want, because it does not have it.
    #[must_use]
    pub fn without_effect(&self, settings: &Arc<Settings>) -> Vec<Notice> {
        let request = Request {
            ask: 0,
            settings: Arc::clone(settings),
            transcript: Transcript::default(),
            max_tokens: settings.model.max_tokens,
            choice: ToolChoice::Open,
            digest: Arc::from(""),
            task_left_tokens: None,
        };
        let known = self.known();
        Plan::new(&known, &request, self.how(&request, &known)).notices
    }

    /// Counts a request's input tokens at the server, where it can.
    pub async fn count_tokens(&self, request: &Request) -> Result<u64, Failure> {
        if self.endpoint.format != Format::AnthropicMessages {
            let fault = Fault::Misconfigured(
                "this provider has no endpoint that counts tokens; /context estimates them"
                    .to_owned(),
            );
            return Err(fault.failure(Begun::No, &self.redactor));
        }
        let known = self.known();
        let plan = Plan::new(&known, request, self.how(request, &known));
        let body = self.wire.counting_body(&plan);
        let path = self.target.uri(&format!("{}/count_tokens", self.wire.path()));
        let path = path.map_err(|fault| fault.failure(Begun::No, &self.redactor))?;
        let text = self
            .exchange(&path, &self.headers)
            .text(body)
            .await
            .map_err(|failed| self.failure(&failed))?;
        #[derive(serde::Deserialize)]
        struct Counted {
            input_tokens: u64,
        }
        serde_json::from_str(&text).map(|counted: Counted| counted.input_tokens).map_err(|error| {
            let fault = Fault::Malformed(format!("the answer is no count: {error}"));
            fault.failure(Begun::No, &self.redactor)
        })
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.learned.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn how(&self, request: &Request, known: &Known) -> How {
        How {
            max_tokens: known.output_limit(request.max_tokens),
            delivery: *self.delivery.lock().unwrap_or_else(PoisonError::into_inner),
            thoughts: self.memory.thoughts(request),
        }
    }

    fn exchange<'a>(&'a self, path: &'a Uri, headers: &'a HeaderMap) -> Exchange<'a> {
        Exchange {
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

    async fn reply(&self, request: &Request, stream: &dyn Stream) -> Result<Reply, Failure> {
        let mut ways = OTHER_WAYS;
        // What was refused before the call was made differently.
        let mut refused: Vec<Raw> = Vec::new();
        loop {
            let known = self.known();
            let plan = Plan::new(&known, request, self.how(request, &known));
            match self.attempt(&plan, stream).await {
                Ok(mut answered) => {
                    if !refused.is_empty() {
                        answered.closed.envelope.keep("refused", Raw::encode(&refused).text());
                    }
                    return Ok(self.finished(answered, &plan));
                }
                Err(failed) if ways > 0 && self.learn(&failed, &plan) => {
                    ways -= 1;
                    refused.extend(failed.received.of_failure(&self.redactor));
                }
                Err(failed) => return Err(self.failure(&failed)),
            }
        }
    }

    async fn attempt(&self, plan: &Plan<'_>, stream: &dyn Stream) -> Result<Answered, Failed> {
        let body = self.wire.body(plan);
        let asked = Asked {
            model: Arc::clone(&self.endpoint.model),
            ask: plan.request.ask,
            body_bytes: body.iter().map(Bytes::len).sum(),
            stops: plan.request.settings.stop_map.keys().cloned().collect(),
        };
        let headers = self.headers(plan)?;
        self.exchange(&self.path, &headers).ask(body, asked, plan.how.delivery, stream).await
    }

    fn headers(&self, plan: &Plan<'_>) -> Result<Cow<'_, HeaderMap>, Fault> {
        if self.endpoint.format != Format::AnthropicMessages {
            return Ok(Cow::Borrowed(&self.headers));
        }
        let Some(betas) = plan.betas()? else { return Ok(Cow::Borrowed(&self.headers)) };
        let mut headers = self.headers.clone();
        headers.insert("anthropic-beta", betas);
        Ok(Cow::Owned(headers))
    }

    /// Whether the call may be made again, differently.
    fn learn(&self, failed: &Failed, plan: &Plan<'_>) -> bool {
        let Some(lesson) = Lesson::of(&failed.fault).filter(|_| failed.begun == Begun::No) else {
            return false;
        };
        if let Some(learned) = lesson.learned() {
            self.shared.capabilities.learn(&self.endpoint.model, learned);
            let known = known(&self.endpoint, &self.shared, &self.options);
            *self.learned.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        }
        match lesson {
            Lesson::OutputLimit(tokens) => tokens < plan.how.max_tokens,
            Lesson::Window(_) => false,
            Lesson::NoStream => {
                *self.delivery.lock().unwrap_or_else(PoisonError::into_inner) = Delivery::Whole;
                plan.how.delivery == Delivery::Streamed
            }
            Lesson::ForeignThoughts => {
                self.memory.leave_thoughts_out(plan.request);
                plan.how.thoughts == Thoughts::Returned
            }
        }
    }

    fn finished(&self, answered: Answered, plan: &Plan<'_>) -> Reply {
        let Answered { closed: Closed { mut reply, mut envelope }, received } = answered;
        received.keep_in(&mut envelope, &self.redactor);
        // What is left out is left out of every call: saying it once is enough.
        let news = |notice: &&Notice| self.memory.is_news(plan.request, **notice);
        plan.notices.iter().filter(news).for_each(|notice| envelope.notice(*notice));
        if plan.how.max_tokens < plan.request.max_tokens {
            envelope.notice(Notice::OutputLimitLowered);
        }
        if plan.choice.demanded().is_some_and(|tool| !calls(&reply, tool)) {
            envelope.notice(Notice::ToolChoiceIgnored);
        }
        reply.envelope = envelope.close();
        reply
    }

    fn failure(&self, failed: &Failed) -> Failure {
        let raw = failed.received.of_failure(&self.redactor);
        Failure { raw, ..failed.fault.failure(failed.begun, &self.redactor) }
    }
}

impl Model for Remote {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(async move { self.reply(&request, stream.as_ref()).await })
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn known(endpoint: &Endpoint, shared: &Shared, options: &Options) -> Known {
    let knowledge = shared.capabilities.of(&endpoint.model);
    let spoken = (endpoint.format, endpoint.dialect);
    Known::new(Arc::clone(&endpoint.model), spoken, options, &knowledge)
}

/// Whether a reply calls a tool, or was cut while it did.
fn calls(reply: &Reply, tool: &str) -> bool {
    let cut = reply.cut.as_ref().is_some_and(|cut| *cut.name == *tool);
    cut || reply.tool_uses().any(|(_, call)| *call.name == *tool)
}
