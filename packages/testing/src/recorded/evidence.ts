import type {
  CallFacts,
  FilesystemReader,
  Json,
  JsonObject,
  PlaceView,
  PolicyContext,
  PolicyResult,
  PreparedCall,
  Tool,
} from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';
import type { Disk, Touched } from '@holdfast/core/types';
import type { RecordedCall } from './calls.ts';

/** Called when a policy reads something that a log does not have. */
export type Missed = (what: string) => void;

export interface EvidenceOptions {
  readonly tool: Tool | undefined;
  /** Resolves paths like the session's filesystem, as far as possible. */
  readonly paths: Pick<FilesystemReader, 'resolve'> | undefined;
  /** Absolute. */
  readonly workspace: string | undefined;
}

/**
 * A call as a policy sees it. Policies may rely on the same object in `check` and `onResult`, so `missed` is looked up on every read.
 */
export function callEvidence(
  call: PreparedCall,
  recorded: RecordedCall,
  { tool }: Pick<EvidenceOptions, 'tool'>,
  missed: () => Missed,
): PreparedCall {
  const look = (): void => missed()(recorded.hidden ?? '');
  return Object.freeze({
    id: call.id,
    tool: tool ?? unknownTool(recorded, missed),
    input: recorded.hasInput ? maskedJson(call.input, look) : unknownObject({}, look),
    get facts() {
      if (recorded.facts === undefined) missed()('the log does not say what the call would have done');
      // JSON; the compiler does not know that of an interface.
      return maskedJson((recorded.facts ?? noFacts) as unknown as Json, look) as unknown as CallFacts;
    },
  });
}

/** A tool known only from the log. */
function unknownTool({ tool: name, dangerous }: RecordedCall, missed: () => Missed): Tool {
  const known = { name, dangerous } as Tool;
  return unknownObject(known, (key) => {
    if (typeof key === 'string' && !Object.hasOwn(known, key)) {
      missed()(`what the tool \`${name}\` declares is not in the log`);
    }
  });
}

/** `doubt`: why the state may differ. `workspace`: the folder of the calls. `request`: the user's. */
export function contextEvidence(
  { state, deadline, session }: PolicyContext,
  {
    paths,
    workspace,
    doubt,
    request,
  }: Pick<EvidenceOptions, 'paths' | 'workspace'> & {
    readonly doubt: string | undefined;
    readonly request: string | undefined;
  },
  missed: Missed,
): PolicyContext {
  const look = (): void => {
    if (doubt !== undefined) missed(doubt);
  };
  const isObject = typeof state === 'object' && state !== null;
  const shown = doubt !== undefined && isObject ? unknownObject(state, look) : state;
  return Object.freeze({
    get state() {
      // Passing a collection on does not read it.
      if (!isObject) look();
      return shown;
    },
    deadline,
    get request() {
      if (request === undefined || hasMask(request)) missed('the request is not in the log, or held a secret');
      return request;
    },
    session: Object.freeze({
      read: ((slice) => {
        missed('the state of the session is not rebuilt here');
        return session.read(slice);
      }) as typeof session.read,
    }),
    filesystem: filesystemEvidence(paths, missed),
    place: placeEvidence(workspace, missed),
  });
}

// The policy's decision is not used.
const noFacts: CallFacts = {
  ...{ runs: [], reads: [], writes: [], deletes: [], hosts: [] },
  untrusted: false,
  unclear: [],
};
const noDisk: Disk = {
  folds: false,
  look: () => ({ type: 'other' }),
  list: () => undefined,
  readText: () => undefined,
};

function placeEvidence(workspace: string | undefined, missed: Missed): PlaceView {
  const look = (): void => missed('the disk is not in a log');
  if (workspace === undefined) return unknownObject({ folder: '/', workspace: '/' }, look);
  return Object.freeze({
    folder: workspace,
    workspace,
    get disk() {
      look();
      return noDisk;
    },
    written() {
      look();
      return false;
    },
  });
}

const noFiles = 'the content of files is not in a log';

function filesystemEvidence(paths: EvidenceOptions['paths'], missed: Missed): FilesystemReader {
  const refuse = async (): Promise<never> => {
    missed(noFiles);
    // The policy's decision is not used.
    throw new Error(noFiles);
  };
  return Object.freeze({
    resolve: (path: string) => (paths === undefined ? refuse() : paths.resolve(path)),
    stat: refuse,
    read: refuse,
    readText: refuse,
    list: refuse,
    walk: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
  });
}

const noReads = 'a log does not say what a call read, and in which version';

export function resultEvidence({ value, message }: PolicyResult, recorded: RecordedCall, missed: Missed): PolicyResult {
  const look = (): void => missed('the result held a secret, or was not kept');
  const shown = maskedJson(value, look);
  const touched = new Map<string, Touched>();
  for (const resource of new Set(['filesystem', ...recorded.writes.map((write) => write.resource)])) {
    touched.set(resource, touchedEvidence(recorded, resource, missed));
  }
  return Object.freeze({
    get value() {
      if (!recorded.hasInput || (typeof value === 'string' && hasMask(value))) look();
      return shown;
    },
    get message() {
      if (!recorded.hasInput || hasMask(message)) look();
      return message;
    },
    touched,
  });
}

function touchedEvidence({ writes, attempts }: RecordedCall, resource: string, missed: Missed): Touched {
  // Policies saw the writes of nested calls when these ended.
  const nested = new Set(
    (attempts.at(-1) ?? []).flatMap((call) => call.writes).map((write) => `${write.resource}/${write.key}`),
  );
  const own = writes.filter((write) => write.resource === resource && !nested.has(`${resource}/${write.key}`));
  return Object.freeze({
    get reads() {
      missed(noReads);
      return [];
    },
    writes: own.map(({ key, change }) =>
      Object.freeze({
        key,
        get before() {
          if (change !== 'created') missed(noReads);
          return change === 'created' ? null : 'unknown';
        },
        get after() {
          if (change !== 'removed') missed(noReads);
          return change === 'removed' ? null : 'unknown';
        },
      }),
    ),
  });
}

/** An unknown object: `look` is called on every access. */
function unknownObject<Known extends object>(known: Known, look: (key: PropertyKey) => void): Known {
  return new Proxy(known, {
    get(target, key) {
      look(key);
      const value: unknown = Reflect.get(target, key);
      // Methods of a collection require their own object.
      return typeof value === 'function' ? value.bind(target) : value;
    },
    has(target, key) {
      look(key);
      return Reflect.has(target, key);
    },
    getOwnPropertyDescriptor(target, key) {
      look(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    ownKeys(target) {
      look('');
      return Reflect.ownKeys(target);
    },
  });
}

/** Returns `json`; calls `look` when a masked part is read. */
function maskedJson(json: Json, look: () => void): Json {
  if (typeof json !== 'object' || json === null || !hasMask(json)) return json;
  // If a key is masked, none of the keys are known.
  if (isPlainObject(json) && Object.keys(json).some(hasMask)) return unknownObject(json as JsonObject, look);
  const shown: Json[] | Record<string, Json> = Array.isArray(json) ? [] : {};
  for (const [key, inner] of Object.entries(json) as readonly [string, Json][]) {
    const value = maskedJson(inner, look);
    const get = (): Json => {
      if (typeof inner === 'string' && hasMask(inner)) look();
      return value;
    };
    Object.defineProperty(shown, key, { enumerable: true, get });
  }
  return Object.freeze(shown);
}
