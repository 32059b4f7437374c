// The messages of one conversation: what was recorded, then what happens, in one stream.
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem } from "../api/client";
import { followStream } from "../api/event_stream";
import type { SdkMessage } from "../api/types";

/** Messages that are kept in the page; older ones are on the server. */
const MAX_MESSAGES = 5_000;

export interface FollowedConversation {
  readonly messages: Signal<SdkMessage[]>;
  /** The text of the reply that is being written. */
  readonly liveText: Signal<string>;
  readonly problem: Signal<Problem | null>;
  readonly isConnected: Signal<boolean>;
}

export function useFollowedRun(conversation: string | null): FollowedConversation {
  const messages = useSignal<SdkMessage[]>([]);
  const liveText = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const isConnected = useSignal(false);
  useEffect(() => {
    messages.value = [];
    liveText.value = "";
    if (conversation === null) return;
    let waiting: SdkMessage[] = [];
    let frame = 0;
    // Many messages arrive at once when a conversation is opened: they are drawn together.
    const flush = (): void => { frame = 0; messages.value = [...messages.value, ...waiting].slice(-MAX_MESSAGES); waiting = []; };
    const add = (message: SdkMessage): void => {
      if (message.type === "stream_event") { liveText.value += deltaText(message); return; }
      if (message.type === "assistant" || message.type === "tombstone" || message.type === "result") liveText.value = "";
      waiting.push(message);
      frame ||= requestAnimationFrame(flush);
    };
    const stop = followStream(`/v1/conversations/${encodeURIComponent(conversation)}/stream?partial_messages=true`, {
      onOpen: () => { isConnected.value = true; problem.value = null; },
      onEvent: (event) => { if (event.type === "message") add(JSON.parse(event.data) as SdkMessage); },
      onLost: () => { isConnected.value = false; liveText.value = ""; },
      onEnd: (ended) => { isConnected.value = false; problem.value = ended; },
    });
    return () => { stop(); cancelAnimationFrame(frame); };
  }, [conversation]);
  return { messages, liveText, problem, isConnected };
}

function deltaText(message: SdkMessage): string {
  const delta = message.event?.delta;
  return message.parent_tool_use_id ? "" : (delta?.text ?? "");
}
