import { decodeJson, type Json } from '@holdfast/core';
import type { ProviderMetadata, StreamPart } from './specification.ts';

/** A part of an assistant message as a prompt of the AI SDK has it. */
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
 * Collects what a provider wants to see again of its message: reasoning with its signatures, the metadata of text and calls,
 * files, and calls that the provider ran itself. Nothing is looked into or left out, and the order is kept.
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

  /** Whether the provider ran a tool of its own: asking again would run it again. */
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
        // How a call or the message came about, which nobody sends back.
        break;
    }
  }

  /** For `finish.providerMetadata`: absent when text and calls say it all. */
  toMetadata(): Json | undefined {
    if (!this.#isOpaque) return undefined;
    // Made of what came out of the provider's JSON, and of base64 text.
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
    // A later part completes what an earlier one began, e.g. a signature at the end.
    if (providerMetadata === undefined) return;
    open.providerOptions = providerMetadata;
    this.#isOpaque = true;
  }

  #addCall({ toolCallId, toolName, input, providerExecuted, providerMetadata }: CallPart): void {
    if (providerExecuted !== true) {
      if (providerMetadata !== undefined) this.#isOpaque = true;
      // What was called stands in the message's calls; here is only its place.
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

/** The content that `metadata` keeps for `provider`; `undefined` when there is none, or it is another provider's. */
export function readMetadata(metadata: Json | undefined, provider: string): readonly ContentPart[] | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('aiSdk' in metadata)) return undefined;
  const kept = metadata['aiSdk'];
  if (typeof kept !== 'object' || kept === null || !('content' in kept) || kept['provider'] !== provider)
    return undefined;
  // Written by `toMetadata`, which the name and the provider vouch for.
  return Array.isArray(kept['content']) ? (kept['content'] as unknown as readonly ContentPart[]) : undefined;
}

/** Arguments as a prompt wants them. What is not the JSON of an object is left out: providers refuse anything else. */
export function toInput(raw: unknown): unknown {
  let value = raw;
  if (typeof raw === 'string') {
    try {
      value = decodeJson(raw);
    } catch {
      // The tool message that follows tells the model what was wrong with it.
      return {};
    }
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Bytes as base64 text, which every version takes as well. */
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
