import { createHash } from 'node:crypto';
import { registerHooks } from 'node:module';
// Not the global one, which a tool may replace.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import { copyJson, isToolResult } from '@holdfast/core/internal';
import { childLimits, type HostMessage, hostLimits, toThrownMessage } from './call-messages.ts';
import type { ChildMessage, Ending } from './child-messages.ts';
import { encodeFrame, FrameReader } from './frames.ts';
import { HostRequests } from './host-requests.ts';
import { createRemoteContext } from './remote-context.ts';
import { findToolFunction, type ToolFunction } from './tool-function.ts';

/** The connection to the host. */
export interface HostChannel {
  send(frame: Uint8Array): void;
  /** Keeps this program alive while idle, or not. */
  hold(held: boolean): void;
  /** True if a program started by the tool is still running. */
  leavesPrograms(): boolean;
}

type CallMessage = Extract<HostMessage, { readonly type: 'call' }>;

interface Current {
  readonly call: number;
  readonly requests: HostRequests;
  close(): void;
}

/** Runs one tool for the host, one call at a time, in its own process or thread. */
export class ToolServer {
  readonly #channel: HostChannel;
  readonly #reader: FrameReader = new FrameReader(hostLimits);
  /** Resources that keep this program alive between calls. */
  #restingResources: number | undefined;
  #imported: Promise<Imported> | undefined;
  #current: Current | undefined;

  constructor(channel: HostChannel) {
    this.#channel = channel;
  }

  /** Tells the host that calls can start. */
  start(): void {
    this.#send({ type: 'ready' });
  }

  receive(chunk: Uint8Array): void {
    for (const { json, body } of this.#reader.read(chunk)) {
      // Sent by the host.
      const message = JSON.parse(json) as HostMessage;
      if (message.type === 'call') void this.#run(message);
      else if (message.type === 'ping') this.#send({ type: 'pong' });
      else this.#current?.requests.settle(message, body);
    }
  }

  /** The event loop is empty but for the host, so a running call can never answer. */
  stall(): void {
    this.#end(this.#current, { type: 'stuck' });
  }

  /** Ends the running call with an uncaught error; false if there is none. */
  crash(thrown: unknown): boolean {
    const current = this.#current;
    this.#end(current, { type: 'threw', error: toThrownMessage(thrown) });
    return current !== undefined;
  }

  async #run(message: CallMessage): Promise<void> {
    this.#restingResources ??= process.getActiveResourcesInfo().length;
    const requests = new HostRequests(
      message.call,
      (request, body) => this.#send(request, body),
      (waiting) => this.#channel.hold(waiting),
    );
    const { context, close } = createRemoteContext(message, requests, (told) => this.#send(told));
    const current = { call: message.call, requests, close };
    this.#current = current;
    this.#channel.hold(false);
    this.#end(current, await this.#come(message, context));
  }

  async #come(message: CallMessage, context: object): Promise<Ending> {
    this.#imported ??= importTool(message);
    const imported = await this.#imported;
    if (imported.type === 'unimportable') return imported;
    try {
      return toEnding(await imported.run(message.input, context));
    } catch (thrown) {
      return { type: 'threw', error: toThrownMessage(thrown) };
    }
  }

  #end(current: Current | undefined, ending: Ending): void {
    // Only the first answer counts.
    if (current === undefined || this.#current !== current) return;
    this.#current = undefined;
    current.requests.close();
    current.close();
    this.#channel.hold(true);
    const { call } = current;
    const idle = this.#isIdle();
    try {
      this.#send({ ...ending, call, idle });
    } catch (thrown) {
      this.#send({ type: 'threw', error: toThrownMessage(thrown), call, idle });
    }
    if (!idle) void this.#tellIdle(call);
  }

  #isIdle(): boolean {
    const isResting = process.getActiveResourcesInfo().length <= (this.#restingResources ?? 0);
    return isResting && !this.#channel.leavesPrograms();
  }

  /** Handles closed by a call may take a few turns to disappear. If others remain, the host ends this program. */
  async #tellIdle(call: number): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!this.#isIdle()) continue;
      this.#send({ type: 'idle', call });
      return;
    }
    this.#send({ type: 'restless', call });
  }

  /** @throws HoldfastError `tool.request.invalid` */
  #send(message: ChildMessage, body?: Uint8Array): void {
    const json = JSON.stringify(message);
    const { maxJsonBytes, maxBodyBytes } = childLimits;
    // A character takes at most three bytes, so most texts need not be counted.
    const bytes = json.length * 3 <= maxJsonBytes ? 0 : Buffer.byteLength(json);
    if (bytes > maxJsonBytes || (body?.byteLength ?? 0) > maxBodyBytes) {
      const message = `A tool can send at most ${maxJsonBytes} bytes of JSON, or ${maxBodyBytes} bytes of a file, per message.`;
      throw new HoldfastError('tool.request.invalid', message, { data: { reason: 'too_large' } });
    }
    this.#channel.send(encodeFrame(json, body));
  }
}

type Imported =
  | { readonly type: 'imported'; readonly run: ToolFunction }
  | Extract<Ending, { readonly type: 'unimportable' }>;

async function importTool(message: CallMessage): Promise<Imported> {
  const changed = checkBytes(message);
  try {
    const module: object = await import(message.url);
    // The metadata of a verified file.
    const form = message.form as Parameters<typeof findToolFunction>[1]['form'];
    const run = findToolFunction(module, { form, function: message.function });
    if (run !== undefined) return { type: 'imported', run };
    return { type: 'unimportable', reason: 'function', error: { name: 'Error', message: '' } };
  } catch (thrown) {
    return { type: 'unimportable', reason: changed() ? 'changed' : 'import', error: toThrownMessage(thrown) };
  }
}

/**
 * Allows the file, and every other known file, to run only if its loaded bytes are the verified ones, even if imported
 * in a later call. The returned function is true if one of them differed.
 */
function checkBytes({ url, sha256, files = [] }: CallMessage): () => boolean {
  const digests = new Map([...files, [fileURLToPath(url), sha256]]);
  let changed = false;
  registerHooks({
    load(loading, context, nextLoad) {
      const loaded = nextLoad(loading, context);
      const digest = loading.startsWith('file:') ? digests.get(fileURLToPath(loading)) : undefined;
      if (digest === undefined) return loaded;
      const { source } = loaded;
      const isSame = source != null && createHash('sha256').update(toBytes(source)).digest('hex') === digest;
      if (isSame) return loaded;
      changed = true;
      throw new Error('The file differs from the verified one.');
    },
  });
  return () => changed;
}

function toBytes(source: string | ArrayBuffer | NodeJS.TypedArray): string | NodeJS.ArrayBufferView {
  return typeof source === 'string' ? source : source instanceof ArrayBuffer ? new Uint8Array(source) : source;
}

function toEnding(returned: unknown): Ending {
  if (returned === undefined) return { type: 'returned' };
  if (!isToolResult(returned)) {
    const copied = copyJson(returned);
    return copied.ok ? { type: 'returned', value: copied.value } : { type: 'unfit', problem: copied.problem };
  }
  const { success, message, value, excludeValueFromContext, code, reason } = returned;
  const copied = copyJson(value);
  if (!copied.ok) return { type: 'unfit', problem: copied.problem };
  return {
    type: 'result',
    success: success === true,
    message: String(message),
    value: copied.value,
    excluded: excludeValueFromContext === true,
    code: code === undefined ? undefined : String(code),
    reason: reason === undefined ? undefined : String(reason),
  };
}
