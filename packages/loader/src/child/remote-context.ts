import { type Filesystem, HoldfastError, type Json, type Outcome, type ToolContext } from '@holdfast/core';
import { copyJson, deepFreeze } from '@holdfast/core/internal';
import type { Deadline, FileEntry, FileStat } from '@holdfast/core/types';
import { type HostMessage, maxTraceLength } from './call-messages.ts';
import type { ChildMessage } from './child-messages.ts';
import type { HostRequests, Reply } from './host-requests.ts';

/** The context of a tool outside the host's process. Accessing other members of a context throws `context.absent`. */
export type RemoteContext = Pick<
  ToolContext,
  'callId' | 'idempotencyKey' | 'signal' | 'deadline' | 'filesystem' | 'call' | 'trace' | 'begin' | 'progress' | 'beat'
>;

const maxProgressLength = 10_000;
const beatMs = 100;

/**
 * Creates a frozen context with bound functions, because tools destructure it. Accessing a missing member throws
 * HoldfastError `context.absent`.
 */
export function createRemoteContext(
  message: Extract<HostMessage, { readonly type: 'call' }>,
  requests: HostRequests,
  send: (message: ChildMessage) => void,
): { readonly context: RemoteContext; close(): void } {
  const { call, callId, idempotencyKey, trace } = message;
  const remainingMs = message.remainingMs ?? Number.POSITIVE_INFINITY;
  const { signal, close } = endAfter(remainingMs);
  const hasRoom = limitProgress();
  let isTold = true;
  let nextBeatMs = 0;
  const context: RemoteContext = {
    callId,
    idempotencyKey,
    signal,
    deadline: createDeadline(remainingMs),
    filesystem: message.filesystem ? createRemoteFilesystem(requests) : undefined,
    async call(name, input = {}) {
      requests.checkOpen();
      const { value } = await requests.ask('call', [String(name), toSent(input)]);
      // The host's own outcome; JSON dropped an undefined code.
      return Object.freeze({ code: undefined, ...(value as object) }) as unknown as Outcome;
    },
    trace: trace === undefined || trace === null ? undefined : deepFreeze(trace),
    // The host already did.
    begin: async () => undefined,
    progress(text) {
      requests.checkOpen();
      // The host stores progress, so it must be limited.
      if (!isTold) return;
      const message = String(text).slice(0, maxProgressLength);
      isTold = hasRoom(message);
      send({ type: 'progress', call, message: isTold ? message : '(further progress of this call is not shown)' });
    },
    beat() {
      requests.checkOpen();
      // One heartbeat per interval is enough.
      const nowMs = performance.now();
      if (nowMs < nextBeatMs) return;
      nextBeatMs = nowMs + beatMs;
      send({ type: 'beat', call });
    },
  };
  return { context: explainAbsence(Object.freeze(context), trace === null), close };
}

// Without `budget`, `prompt`, `renderedPrompt` and `model`, which many calls lack anyway.
const absent: ReadonlySet<unknown> = new Set<Exclude<keyof ToolContext, keyof RemoteContext>>([
  'session',
  'resources',
  'use',
  'child',
]);

/** Explains to a tool written for the host's process what is missing, instead of returning `undefined`. */
function explainAbsence(context: RemoteContext, isTraceTooLarge: boolean): RemoteContext {
  return new Proxy(context, {
    get(target, key, receiver) {
      if (key === 'trace' && isTraceTooLarge) {
        const message = `\`context.trace\` exceeds ${maxTraceLength} characters, the limit for a tool outside the host's process: reduce the inputs of its node, or load it with \`isolation: 'in-process'\`.`;
        throw new HoldfastError('context.absent', message, { data: { reason: 'too_large', property: key } });
      }
      if (!absent.has(key)) return Reflect.get(target, key, receiver);
      const message = `\`context.${String(key)}\` is not available outside the host's process. Use \`context.filesystem\` and \`context.call\`, or load the tool with \`isolation: 'in-process'\`.`;
      throw new HoldfastError('context.absent', message, { data: { property: String(key) } });
    },
  });
}

/** Text stays text: the host parses it like a model's. */
function toSent(input: unknown): Parameters<HostRequests['ask']>[1][number] {
  if (typeof input === 'string') return input;
  const copied = copyJson(input);
  if (copied.ok) return copied.value;
  throw new HoldfastError('arguments.invalid', `Cannot send the arguments of a nested call: ${copied.problem}.`, {
    data: { reason: 'not_json' },
  });
}

function createDeadline(remainingMs: number): Deadline {
  const atMs = Date.now() + remainingMs;
  return Object.freeze({ atMs, remainingMs: () => Math.max(0, atMs - Date.now()) });
}

// 2^31 - 1 ms, the longest delay of a timer.
const maxDelayMs = 2_147_483_647;

/** The host kills the process at the deadline; inside, the signal can only fire by the tool's own clock. */
function endAfter(remainingMs: number): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  if (remainingMs > maxDelayMs) return { signal: controller.signal, close: () => undefined };
  const timer = setTimeout(() => controller.abort(), remainingMs).unref();
  return { signal: controller.signal, close: () => clearTimeout(timer) };
}

/** The call's filesystem, staged in the host and accessed by messages. Replies of the host are trusted to have the right type. */
function createRemoteFilesystem(requests: HostRequests): Filesystem {
  const ask = async (method: string, path: string, ...rest: readonly Json[]): Promise<Reply> =>
    await requests.ask(method, [String(path), ...rest]);
  return Object.freeze({
    resolve: async (path: string) => (await ask('resolve', path)).value as string,
    stat: async (path: string) => ((await ask('stat', path)).value ?? undefined) as FileStat | undefined,
    read: async (path: string, { peek = false }: { readonly peek?: boolean } = {}) =>
      (await ask('read', path, peek)).body ?? new Uint8Array(),
    readText: async (path: string) => (await ask('readText', path)).value as string,
    list: async (path: string) => (await ask('list', path)).value as unknown as readonly FileEntry[],
    walk: (path = '') => walk(requests, path),
    write: async (path: string, content: string | Uint8Array) => {
      if (content instanceof Uint8Array) await requests.ask('write', [String(path)], content);
      else if (typeof content === 'string' && content.isWellFormed())
        await requests.ask('write', [String(path)], new TextEncoder().encode(content));
      // The filesystem rejects other content itself.
      else await requests.ask('write', [String(path), typeof content === 'string' ? content : null]);
    },
    remove: async (path: string) => void (await ask('remove', path)),
    makeDirectory: async (path: string) => void (await ask('makeDirectory', path)),
  });
}

async function* walk(requests: HostRequests, path: string): AsyncGenerator<FileEntry, void, undefined> {
  const { value: id } = await requests.ask('walk', [String(path)]);
  for (;;) {
    const { value: entries } = await requests.ask('walkOn', [id]);
    const page = entries as unknown as readonly FileEntry[];
    if (page.length === 0) return;
    yield* page;
  }
}

const maxRemarks = 100_000;
// Characters, plus an overhead per message.
const maxProgress = 2 * 1024 * 1024;
const messageCost = 100;

/** Creates a function that adds up a call's progress and returns false once it exceeds the limit. */
function limitProgress(max: number = maxProgress): (message: string) => boolean {
  let left = max;
  return (message) => {
    left -= message.length + messageCost;
    return left >= 0;
  };
}

/** Counts a call's messages that need no reply, in the host: a genuine program never exceeds the limit. */
export class Remarks {
  #count = 0;
  // Includes the final notice of the other side.
  readonly #hasRoom = limitProgress(maxProgress + 1_000);

  /** False if there were too many. */
  add(progress?: string): boolean {
    this.#count += 1;
    return this.#count <= maxRemarks && (progress === undefined || this.#hasRoom(progress));
  }
}
