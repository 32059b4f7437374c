//! Handles one request: routes, parses and answers it.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response};

use super::answer_start::{self, AnswerStart};
use super::limits::SILENCE_MS;
use super::parsed_request::{ApiFormat, ParsedRequest, ResponseDelivery};
use super::rejection::RequestRejection;
use super::request_observer::{RequestTicket, ServedOutcome};
use super::respond::{self, MaybeResponse};
use super::response_body::{ConnectionDropped, ResponseBody};
use super::response_head::ResponseHead;
use super::routing::{self, RequestRoute};
use super::server_state::ServerState;
use super::{anthropic, model_list, request_body, stream_response, whole_response};
use crate::scripted_answer::ScriptedFault;

/// A request in progress.
pub(super) struct RequestContext {
    pub(super) state: Arc<ServerState>,
    pub(super) ticket: RequestTicket,
    pub(super) format: ApiFormat,
    pub(super) number: u64,
}

/// Handles a request. An error drops the connection.
pub(super) async fn handle_request(
    state: Arc<ServerState>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, ConnectionDropped> {
    let (parts, incoming) = request.into_parts();
    let path = parts.uri.path();
    let format = routing::error_format(path, &parts.headers);
    let what = (parts.method.as_str(), path);
    let ticket = RequestTicket::new(state.observer.clone(), state.clock.clone(), what);
    let number = state.next_request_number();
    let errand = RequestContext { state, ticket, format, number };
    let id = errand.request_id();
    let found = routing::check_local_sender(&parts.headers)
        .and_then(|()| routing::find_route(&parts.method, path, &parts.headers));
    let reply = match found {
        Ok(route) => errand.dispatch(route, incoming).await,
        Err(refusal) => Some(errand.reject(&refusal)),
    };
    let mut response = reply.ok_or(ConnectionDropped)?;
    respond::add_request_id(response.headers_mut(), format, &id);
    Ok(response)
}

impl RequestContext {
    async fn dispatch(self, route: RequestRoute, incoming: Incoming) -> MaybeResponse {
        match route {
            RequestRoute::ModelRequest(format) => self.on_model_request(format, incoming).await,
            RequestRoute::CountTokens => self.on_count_tokens(incoming).await,
            RequestRoute::Models(catalogue) => {
                Some(self.send_json(model_list::model_list(catalogue)))
            }
            RequestRoute::Model(catalogue, id) => {
                Some(self.send_json(model_list::model_entry(catalogue, &id)))
            }
        }
    }

    async fn on_model_request(self, format: ApiFormat, incoming: Incoming) -> MaybeResponse {
        let asked = match request_body::read_body(&self.state, incoming).await? {
            Ok(held) => format.parse_request(&held.text),
            Err(refusal) => Err(refusal),
        };
        match asked {
            Ok(asked) => self.send_answer(asked).await,
            Err(refusal) => Some(self.reject(&refusal)),
        }
    }

    async fn on_count_tokens(self, incoming: Incoming) -> MaybeResponse {
        let counted = match request_body::read_body(&self.state, incoming).await? {
            Ok(held) => anthropic::count_tokens(&held.text),
            Err(refusal) => Err(refusal),
        };
        match counted {
            Ok(json) => Some(self.send_json(json)),
            Err(refusal) => Some(self.reject(&refusal)),
        }
    }

    async fn send_answer(self, asked: ParsedRequest) -> MaybeResponse {
        let answer = self.state.choose_answer(&asked.view);
        let head = ResponseHead::new(self.number, self.state.unix_seconds(), &answer);
        let clock = self.state.clock.clone();
        match answer_start::wait_for_start(&answer.steps, clock.as_ref()).await {
            AnswerStart::Fault(fault) => self.send_fault(fault).await,
            AnswerStart::Answer(steps, pace) => match asked.delivery {
                ResponseDelivery::Streamed => {
                    let begun = stream_response::StartedAnswer {
                        steps: steps.to_vec(),
                        pace,
                        stop: answer.stop,
                    };
                    Some(stream_response::start_stream(
                        self,
                        begun,
                        asked.response_spec.into_encoder(head),
                    ))
                }
                ResponseDelivery::Whole => {
                    whole_response::respond_whole(
                        self,
                        &asked.response_spec,
                        head,
                        (&answer, steps, pace),
                    )
                    .await
                }
            },
        }
    }

    /// Sends a fault before anything else was sent.
    pub(super) async fn send_fault(self, fault: &ScriptedFault) -> MaybeResponse {
        match fault {
            ScriptedFault::Status { code, retry_after, message } => {
                let refusal = RequestRejection::new(*code, message.as_str());
                Some(self.reject(&refusal.with_retry_after(retry_after.as_deref())))
            }
            ScriptedFault::Timeout => self.wait_until_timeout().await,
            ScriptedFault::Connect => self.close_connection(),
        }
    }

    /// Waits for the timeout. If the client gives up first, hyper drops this future, and the ticket
    /// reports that.
    async fn wait_until_timeout(self) -> MaybeResponse {
        self.state.clock.sleep(SILENCE_MS).await;
        self.close_connection()
    }

    fn close_connection(self) -> MaybeResponse {
        self.ticket.finish(ServedOutcome::Closed);
        None
    }

    pub(super) fn reject(self, refusal: &RequestRejection) -> Response<ResponseBody> {
        let response = respond::rejection_response(self.format, refusal, &self.request_id());
        let (status, reason) = (refusal.status, refusal.message.clone());
        self.ticket.finish(ServedOutcome::Answered { status, reason });
        response
    }

    fn send_json(self, json: String) -> Response<ResponseBody> {
        self.ticket.finish(ServedOutcome::Answered { status: 200, reason: String::new() });
        respond::json_response(200, ResponseBody::whole(json))
    }

    fn request_id(&self) -> String {
        let number = self.number;
        format!("req_{number:024}")
    }
}
