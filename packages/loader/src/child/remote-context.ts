import {
  copyJson,
  type Deadline,
  deepFreeze,
  type FileEntry,
  type FileStat,
  type Filesystem,
  HoldfastError,
  type Json,
  type Outcome,
  type ToolContext,
} from '@holdfast/core';
import { type HostMessage, maxTraceLength } from './call-messages.ts';
import type { ChildMessage } from './child-messages.ts';
import type { HostRequests, Reply } from './host-requests.ts';

/** What a tool has of its context outside of the host's process. To read what else a call always has throws `context.absent`. */
export type RemoteContext = Pick<
  ToolContext,
  'callId' | 'idempotencyKey' | 'signal' | 'deadline' | 'filesystem' | 'call' | 'trace' | 'begin' | 'progress' | 'beat'
>;

const maxProgressLength = 10_000;
const beatMs = 100;

/** Frozen, and its functions are bound: tools take their context apart. Reading what is absent throws HoldfastError `context.absent`. */
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
      // The host's own outcome; JSON has left out a code that is undefined.
      return Object.freeze({ code: undefined, ...(value as object) }) as unknown as Outcome;
    },
    trace: trace === undefined || trace === null ? undefined : deepFreeze(trace),
    // The host has seen to it.
    begin: async () => undefined,
    progress(text) {
      requests.checkOpen();
      // The host keeps what it is told, so that there has to be an end to it.
      if (!isTold) return;
      const message = String(text).slice(0, maxProgressLength);
      isTold = hasRoom(message);
      send({ type: 'progress', call, message: isTold ? message : '(further progress of this call is left out)' });
    },
    beat() {
      requests.checkOpen();
      // One sign of life is as good as many.
      const nowMs = performance.now();
      if (nowMs < nextBeatMs) return;
      nextBeatMs = nowMs + beatMs;
      send({ type: 'beat', call });
    },
  };
  return { context: explainAbsence(Object.freeze(context), trace === null), close };
}

// `budget`, `prompt`, `renderedPrompt` and `model` are not among them: a tool has to do without them in many a call.
const absent: ReadonlySet<unknown> = new Set<Exclude<keyof ToolContext, keyof RemoteContext>>([
  'session',
  'resources',
  'use',
  'child',
]);

/** Tells a tool that was written for the host's process what it lacks, where it would only have found `undefined`. */
function explainAbsence(context: RemoteContext, isTraceTooLarge: boolean): RemoteContext {
  return new Proxy(context, {
    get(target, key, receiver) {
      if (key === 'trace' && isTraceTooLarge) {
        const message = `\`context.trace\` is longer than ${maxTraceLength} characters, and this tool runs in another process or in a thread: give it less by the inputs of its node, or load it with \`isolation: 'in-process'\`.`;
        throw new HoldfastError('context.absent', message, { data: { property: key, reason: 'too-large' } });
      }
      if (!absent.has(key)) return Reflect.get(target, key, receiver);
      const message = `\`context.${String(key)}\` is only there in the host's process, and this tool runs in another one or in a thread: it can use \`context.filesystem\` and \`context.call\`, or has to be loaded with \`isolation: 'in-process'\`.`;
      throw new HoldfastError('context.absent', message, { data: { property: String(key) } });
    },
  });
}

/** Text stays text: the host parses it as it parses a model's. */
function toSent(input: unknown): Parameters<HostRequests['ask']>[1][number] {
  if (typeof input === 'string') return input;
  const copied = copyJson(input);
  if (copied.ok) return copied.value;
  throw new HoldfastError('arguments.not_json', `The arguments of a nested call cannot be sent: ${copied.problem}.`);
}

function createDeadline(remainingMs: number): Deadline {
  const atMs = Date.now() + remainingMs;
  return Object.freeze({ atMs, remainingMs: () => Math.max(0, atMs - Date.now()) });
}

// 2^31 - 1 ms is the longest delay that timers honour.
const maxDelayMs = 2_147_483_647;

/** The host ends the process at the deadline; a tool that looks at its signal gets to know of it, if at all, by its own clock. */
function endAfter(remainingMs: number): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  if (remainingMs > maxDelayMs) return { signal: controller.signal, close: () => undefined };
  const timer = setTimeout(() => controller.abort(), remainingMs).unref();
  return { signal: controller.signal, close: () => clearTimeout(timer) };
}

/** The call's filesystem, which is staged in the host and asked for by messages. What the host answers has the type it should. */
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
      // The filesystem has its own words for what it refuses.
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
// Characters, and for each message what it takes beside them.
const maxProgress = 2 * 1024 * 1024;
const messageCost = 100;

/** Makes a function that counts what a tool says of its progress in one call, and says whether there is room for that. */
function limitProgress(max: number = maxProgress): (message: string) => boolean {
  let left = max;
  return (message) => {
    left -= message.length + messageCost;
    return left >= 0;
  };
}

/** Messages of one call that ask for nothing, as the host counts them: the program on the other side never sends so many. */
export class Remarks {
  #count = 0;
  // It says once that it says no more.
  readonly #hasRoom = limitProgress(maxProgress + 1_000);

  /** False when there have been too many. */
  add(progress?: string): boolean {
    this.#count += 1;
    return this.#count <= maxRemarks && (progress === undefined || this.#hasRoom(progress));
  }
}
