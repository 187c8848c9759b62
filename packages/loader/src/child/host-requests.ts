import { HoldfastError, type Json } from '@holdfast/core';
import { fromThrownMessage, type HostMessage } from './call-messages.ts';
import type { ChildMessage } from './child-messages.ts';

/** The host's reply: a value, optionally with bytes. */
export interface Reply {
  readonly value: Json;
  readonly body: Uint8Array | undefined;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

// The host's limit per call.
const maxPending = 64;

/** The requests of a tool's call to the host, on the tool's side. Sent in order, a limited number at a time. */
export class HostRequests {
  readonly #call: number;
  readonly #send: (message: ChildMessage, body?: Uint8Array) => void;
  readonly #waits: (waiting: boolean) => void;
  readonly #pending = new Map<number, Waiting>();
  readonly #queue: (() => void)[] = [];
  #count = 0;
  #closed = false;

  /** `waits` is called with whether a reply is pending. */
  constructor(
    call: number,
    send: (message: ChildMessage, body?: Uint8Array) => void,
    waits: (waiting: boolean) => void,
  ) {
    this.#call = call;
    this.#send = send;
    this.#waits = waits;
  }

  /** @throws HoldfastError `context.closed` after the end of the call. */
  checkOpen(): void {
    if (this.#closed)
      throw new HoldfastError('context.closed', 'The call has ended, so its context can no longer be used.');
  }

  /** Rejects with the host's error. */
  ask(method: string, parameters: readonly Json[], body?: Uint8Array): Promise<Reply> {
    const answer = new Promise<Reply>((resolve, reject) => {
      this.checkOpen();
      const send = (): void => {
        this.#count += 1;
        const request = this.#count;
        this.#pending.set(request, { resolve, reject });
        this.#waits(true);
        this.#send({ type: 'request', call: this.#call, request, method, parameters }, body);
      };
      if (this.#pending.size < maxPending) send();
      else this.#queue.push(send);
    });
    // A tool need not await it.
    answer.catch(() => undefined);
    return answer;
  }

  settle(message: Extract<HostMessage, { readonly type: 'reply' | 'refusal' }>, body: Uint8Array | undefined): void {
    const waiting = this.#pending.get(message.request);
    // The call that asked has ended.
    if (waiting === undefined) return;
    this.#pending.delete(message.request);
    this.#queue.shift()?.();
    if (this.#pending.size === 0) this.#waits(false);
    if (message.type === 'reply') waiting.resolve({ value: message.value, body });
    else waiting.reject(fromThrownMessage(message.error));
  }

  /** Ends the call: no further requests. */
  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
    this.#pending.clear();
  }
}
