import type { Json } from '@holdfast/core';
import { decodeJson } from '@holdfast/core/internal';
import type { ProviderMetadata, StreamPart } from './specification.ts';

/** A part of an assistant message in an AI SDK prompt. */
export interface ContentPart {
  readonly type: string;
  readonly providerOptions?: ProviderMetadata | undefined;
  readonly [key: string]: unknown;
}

interface OpenPart {
  readonly type: 'text' | 'reasoning';
  text: string;
  providerOptions?: ProviderMetadata | undefined;
}

/**
 * Collects the content that a provider expects back with its message: reasoning with signatures, metadata of text and
 * calls, files, and calls that the provider ran itself. Opaque, complete and in order.
 */
export class MessageContent {
  readonly #provider: string;
  readonly #parts: object[] = [];
  readonly #open = new Map<string, OpenPart>();
  #isOpaque = false;
  #hasProviderCall = false;

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** True if the provider ran a tool of its own: a retry would run it again. */
  get hasProviderCall(): boolean {
    return this.#hasProviderCall;
  }

  add(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#extend('text', part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#isOpaque = true;
        this.#extend('reasoning', part);
        break;
      case 'tool-call':
        this.#addCall(part);
        break;
      case 'tool-result':
        if (part.preliminary !== true) this.#addResult(part);
        break;
      case 'file':
      case 'reasoning-file':
        this.#keep({ type: part.type, mediaType: part.mediaType, data: toJsonData(part.data) }, part.providerMetadata);
        break;
      case 'custom':
        this.#keep({ type: 'custom', kind: part.kind }, part.providerMetadata);
        break;
      default:
        // Origin and progress parts, which are not sent back.
        break;
    }
  }

  /** For `finish.providerMetadata`. Absent if text and calls are the whole message. */
  toMetadata(): Json | undefined {
    if (!this.#isOpaque) return undefined;
    // Built from the provider's JSON and base64 text.
    return { aiSdk: { provider: this.#provider, content: this.#parts } } as unknown as Json;
  }

  #extend(type: OpenPart['type'], { id, delta = '', providerMetadata }: Delta): void {
    // Text and reasoning may use the same ids.
    const key = `${type}:${id}`;
    let open = this.#open.get(key);
    if (open === undefined) {
      open = { type, text: '' };
      this.#open.set(key, open);
      this.#parts.push(open);
    }
    open.text += delta;
    // A later part may complete an earlier one, e.g. with a signature at the end.
    if (providerMetadata === undefined) return;
    open.providerOptions = providerMetadata;
    this.#isOpaque = true;
  }

  #addCall({ toolCallId, toolName, input, providerExecuted, providerMetadata }: CallPart): void {
    if (providerExecuted !== true) {
      if (providerMetadata !== undefined) this.#isOpaque = true;
      // The message's calls hold the content; this part marks the position.
      this.#parts.push({ type: 'tool-call', ...withOptions(providerMetadata) });
      return;
    }
    this.#hasProviderCall = true;
    this.#keep({ type: 'tool-call', toolCallId, toolName, input: toInput(input), providerExecuted }, providerMetadata);
  }

  #addResult({ toolCallId, toolName, result, isError, providerMetadata }: ResultPart): void {
    const output = { type: isError === true ? 'error-json' : 'json', value: result };
    this.#keep({ type: 'tool-result', toolCallId, toolName, output }, providerMetadata);
  }

  #keep(part: object, providerMetadata: ProviderMetadata | undefined): void {
    this.#isOpaque = true;
    this.#parts.push({ ...part, ...withOptions(providerMetadata) });
  }
}

interface Delta {
  readonly id: string;
  readonly delta?: string;
  readonly providerMetadata?: ProviderMetadata;
}
type CallPart = Extract<StreamPart, { readonly type: 'tool-call' }>;
type ResultPart = Extract<StreamPart, { readonly type: 'tool-result' }>;

function withOptions(providerOptions: ProviderMetadata | undefined): { readonly providerOptions?: ProviderMetadata } {
  return providerOptions === undefined ? {} : { providerOptions };
}

/** The content that `metadata` holds for `provider`; `undefined` if it has none or belongs to another provider. */
export function readMetadata(metadata: Json | undefined, provider: string): readonly ContentPart[] | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('aiSdk' in metadata)) return undefined;
  const kept = metadata['aiSdk'];
  if (typeof kept !== 'object' || kept === null || !('content' in kept) || kept['provider'] !== provider)
    return undefined;
  // Written by `toMetadata`; the key and the provider identify it.
  return Array.isArray(kept['content']) ? (kept['content'] as unknown as readonly ContentPart[]) : undefined;
}

/** Parses arguments for a prompt. Anything but a JSON object becomes `{}`: providers reject it. */
export function toInput(raw: unknown): unknown {
  let value = raw;
  if (typeof raw === 'string') {
    try {
      value = decodeJson(raw);
    } catch {
      // The tool message that follows tells the model about the error.
      return {};
    }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Converts bytes to base64 text, which every version accepts. */
function toJsonData(data: unknown): unknown {
  if (data instanceof Uint8Array) return toBase64(data);
  // v4 wraps it: `{ type: 'data', data }` or `{ type: 'url', url }`.
  if (typeof data === 'object' && data !== null && 'data' in data && data.data instanceof Uint8Array) {
    return { ...data, data: toBase64(data.data) };
  }
  if (typeof data === 'object' && data !== null && 'url' in data) return { ...data, url: String(data.url) };
  return data;
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
