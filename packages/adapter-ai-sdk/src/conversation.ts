import type { Message } from '@holdfast/core';
import { type ContentPart, readMetadata, toInput } from './message-content.ts';

type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: readonly object[] };

interface Converted {
  readonly prompt: PromptMessage[];
  /** The number of messages that `prompt` covers. */
  count: number;
  last: Message | undefined;
}

/**
 * Converts conversations to AI SDK prompts. Each message is converted once across requests; a list that only grew is not walked again.
 */
export class Conversation {
  readonly #provider: string;
  readonly #byList = new WeakMap<readonly Message[], Converted>();
  readonly #byMessage = new WeakMap<Message, PromptMessage>();

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** The conversation's own growing list: a copy per request would make a run quadratic in its turns. */
  toPrompt(messages: readonly Message[]): readonly object[] {
    const converted = this.#known(messages);
    for (; converted.count < messages.length; converted.count += 1) {
      const message = messages[converted.count];
      if (message === undefined) continue;
      const next = this.#convert(message);
      // Skips empty assistant messages: providers reject a message without content.
      if (next.content.length > 0 || next.role === 'system') append(converted.prompt, next);
      converted.last = message;
    }
    return converted.prompt;
  }

  #known(messages: readonly Message[]): Converted {
    const known = this.#byList.get(messages);
    if (known !== undefined && known.count <= messages.length && messages[known.count - 1] === known.last) return known;
    const converted: Converted = { prompt: [], count: 0, last: undefined };
    this.#byList.set(messages, converted);
    return converted;
  }

  #convert(message: Message): PromptMessage {
    const known = this.#byMessage.get(message);
    if (known !== undefined) return known;
    const converted = toPromptMessage(message, this.#provider);
    this.#byMessage.set(message, converted);
    return converted;
  }
}

/** The results of one turn belong in one message: some providers reject them as separate ones. */
function append(prompt: PromptMessage[], message: PromptMessage): void {
  const last = prompt.at(-1);
  if (message.role !== 'tool' || last?.role !== 'tool') {
    prompt.push(message);
    return;
  }
  // A new object: an earlier prompt may hold the old one.
  prompt[prompt.length - 1] = { role: 'tool', content: [...last.content, ...message.content] };
}

function toPromptMessage(message: Message, provider: string): PromptMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return { role: 'assistant', content: toContent(message, provider) };
    case 'tool': {
      const { callId, name, success, text } = message;
      const output = { type: success ? 'text' : 'error-text', value: text };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: callId, toolName: name, output }] };
    }
    default:
      return message satisfies never;
  }
}

type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

function toContent(message: AssistantMessage, provider: string): readonly object[] {
  const calls = message.calls.map(toCallPart);
  const kept = readMetadata(message.providerMetadata, provider);
  if (kept !== undefined && describes(kept, message)) {
    let index = 0;
    return kept
      .filter((part) => part.type !== 'text' || part.providerOptions !== undefined || !isBlank(String(part['text'])))
      .map((part) => {
        if (!isOwnCall(part)) return part;
        const call = calls[index];
        index += 1;
        return { ...call, ...part };
      });
  }
  return [...(isBlank(message.text) ? [] : [{ type: 'text', text: message.text }]), ...calls];
}

/** Providers reject blank text. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

function toCallPart({ id, name, arguments: raw }: AssistantMessage['calls'][number]): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(raw) };
}

function isOwnCall(part: ContentPart): boolean {
  return part.type === 'tool-call' && part['providerExecuted'] !== true;
}

/** True if the message is unchanged: a host may have shortened its text or removed a call. */
function describes(kept: readonly ContentPart[], { text, calls }: AssistantMessage): boolean {
  const keptText = kept.map((part) => (part.type === 'text' ? String(part['text']) : '')).join('');
  return keptText === text && kept.filter(isOwnCall).length === calls.length;
}
