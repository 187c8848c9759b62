import type {
  CallFacts,
  FilesystemReader,
  Json,
  PolicyContext,
  PolicyResult,
  PreparedCall,
  Tool,
} from '@holdfast/core';
import { isPlainObject, ReadOnlyMap } from '@holdfast/core/internal';
import type { Judges, PolicySurroundings } from '@holdfast/executor/internal';

/** A call that may be made later. */
export interface ExpectedCall {
  readonly tool: Tool;
  /** The parsed input. Absent if not known yet. */
  readonly input?: unknown;
  /** The indexes of earlier calls in the list that end before this one starts. */
  readonly after: readonly number[];
}

/** A call with a unique placeholder for its id, which will contain the number of a future run. */
export interface NamedCall extends ExpectedCall {
  readonly id: string;
}

/** The surroundings that every policy sees, and the source of a call's facts. */
export interface AheadSurroundings extends PolicySurroundings {
  readonly describe: Judges['describe'];
}

/** The facts that a policy read, besides its state and the tool of the call. */
export interface Looks {
  /** Facts that differ between calls of the same tool. */
  readonly own: boolean;
  /** Facts that are not known before the call. */
  readonly unknown: boolean;
  /** Facts that can change independently of the calls: session, files, time. */
  readonly around: boolean;
}

/** Stand-ins that a policy receives, and a record of what it read. */
export interface Watched {
  readonly call: PreparedCall;
  /** The stand-in for a successful result. */
  result(): PolicyResult;
  context(state: unknown): PolicyContext;
  looks(): Looks;
}

const nothingTouched: PolicyResult['touched'] = new ReadOnlyMap();

/** Created for each question, so that a late read does not count for the next answer. */
export function watch({ id, tool, input }: NamedCall, around: AheadSurroundings): Watched {
  let own = false;
  let unknown = false;
  let looked = false;
  const notKnown = (): void => {
    own = true;
    unknown = true;
  };
  const onLook = (): void => {
    looked = true;
  };
  const stand = input === undefined ? unknownObject(notKnown) : undefined;
  return {
    call: Object.freeze({
      get id(): string {
        own = true;
        return id;
      },
      tool,
      get input(): Json {
        if (stand !== undefined) return stand;
        own = true;
        // The caller froze the input. As in a real call, a parsed input need not be JSON.
        return input as Json;
      },
      get facts(): CallFacts | undefined {
        if (around.place === undefined) return undefined;
        // By then a link may lead elsewhere.
        onLook();
        if (stand !== undefined) return stand as unknown as CallFacts;
        own = true;
        return around.describe({ id, tool, input: input as Json });
      },
    } as PreparedCall),
    result: () =>
      Object.freeze({
        get value(): Json {
          notKnown();
          return null;
        },
        get message(): string {
          notKnown();
          return '';
        },
        get touched(): PolicyResult['touched'] {
          notKnown();
          return nothingTouched;
        },
      }),
    context: (state) =>
      Object.freeze({
        state,
        // Created on demand: most policies read only the call and their state.
        get session() {
          return watchUse(around.session, onLook);
        },
        get filesystem() {
          return around.filesystem && watchUse(around.filesystem, onLook);
        },
        get deadline() {
          return watchUse(around.deadline, onLook);
        },
        get request() {
          onLook();
          return around.request;
        },
        get place() {
          return around.place && watchUse(around.place, onLook);
        },
      }),
    looks: () => ({ own, unknown, around: looked }),
  };
}

/** An object that reports any access. Reading it from a call does not count: some policies destructure it without using it. */
function unknownObject(onLook: () => void): Json {
  // The outer proxy supplies every trap of the inner one.
  const handler: ProxyHandler<object> = new Proxy(
    {},
    {
      get: () => {
        onLook();
        return undefined;
      },
    },
  );
  return new Proxy({}, handler) as Json;
}

/** Wraps an object and reports when a method is called or another property is read. Reading a method does not count. */
function watchUse<Used extends object>(used: Used, onLook: () => void): Used {
  const stand: object = new Proxy(
    {},
    {
      set: () => false,
      has: (_, name) => Reflect.has(used, name),
      get: (_, name) => {
        const value: unknown = Reflect.get(used, name);
        if (typeof value !== 'function') {
          onLook();
          return value;
        }
        return (...parameters: readonly unknown[]): unknown => {
          onLook();
          return Reflect.apply(value, used, parameters);
        };
      },
    },
  );
  return stand as Used;
}

const unknown = (): never => {
  throw new Error('The files are not known yet.');
};
const unknownLater = async (): Promise<never> => unknown();

/** Stands in for a filesystem that may or may not be bound. */
export const unknownFilesystem: FilesystemReader = Object.freeze({
  resolve: unknownLater,
  stat: unknownLater,
  read: unknownLater,
  readText: unknownLater,
  list: unknownLater,
  walk: unknown,
});

/** Freezes parsed arguments as far as they are JSON, as in a real call. */
export function freezeInput(value: unknown, met: Set<object> = new Set()): void {
  if ((!Array.isArray(value) && !isPlainObject(value)) || met.has(value)) return;
  met.add(Object.freeze(value));
  for (const item of Object.values(value)) freezeInput(item, met);
}
