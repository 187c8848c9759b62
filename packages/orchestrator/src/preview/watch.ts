import {
  type CallFacts,
  type FilesystemReader,
  isPlainObject,
  type Json,
  type PolicyContext,
  type PolicyResult,
  type PreparedCall,
  ReadOnlyMap,
  type Tool,
} from '@holdfast/core';
import type { Judges, PolicySurroundings } from '@holdfast/executor';

/** A call that nobody has made yet. */
export interface ExpectedCall {
  readonly tool: Tool;
  /** As the tool's schema makes it. Absent: not known yet. */
  readonly input?: unknown;
  /** Places, in the list of calls, of those that end before this one begins. They come before it. */
  readonly after: readonly number[];
}

/** With a name that stands for its id, which has the number of the run in it that there is not yet. No other call has the same. */
export interface NamedCall extends ExpectedCall {
  readonly id: string;
}

/** What every policy sees, and what makes the facts of a call. */
export interface AheadSurroundings extends PolicySurroundings {
  readonly describe: Judges['describe'];
}

/** What a policy looked at, beside its state and the tool of the call. */
export interface Looks {
  /** At what another call of the tool has otherwise. */
  readonly own: boolean;
  /** At what is not known before the call is made. */
  readonly unknown: boolean;
  /** At what may change without any of the calls: session, files, time. */
  readonly around: boolean;
}

/** What a policy is handed instead of the real thing, and what it has looked at so far. */
export interface Watched {
  readonly call: PreparedCall;
  /** Of its success. */
  result(): PolicyResult;
  context(state: unknown): PolicyContext;
  looks(): Looks;
}

const nothingTouched: PolicyResult['touched'] = new ReadOnlyMap();

/** Made anew for every question, so that what a policy looks at too late is not taken for the next answer's. */
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
        // Frozen by whoever asks; what a schema makes of arguments need not be JSON, as in a call.
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
        // Made when it is used: most policies look at nothing but the call and their state.
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

/** An object of which nothing can be learned unnoticed. Taking it out of a call is no look: policies do that and never use it. */
function unknownObject(onLook: () => void): Json {
  // A proxy asks its handler for a trap, whatever is done to it.
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

/** The same, which tells when a method of it is called or something else of it is read. Taking out a method is no look. */
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
  throw new Error('Which files there will be is not known yet.');
};
const unknownLater = async (): Promise<never> => unknown();

/** Stands where a filesystem may be bound or not: whoever looks at it learns nothing. */
export const unknownFilesystem: FilesystemReader = Object.freeze({
  resolve: unknownLater,
  stat: unknownLater,
  read: unknownLater,
  readText: unknownLater,
  list: unknownLater,
  walk: unknown,
});

/** As a call does it: what a schema makes of arguments is frozen as far as it is JSON. */
export function freezeInput(value: unknown, met: Set<object> = new Set()): void {
  if ((!Array.isArray(value) && !isPlainObject(value)) || met.has(value)) return;
  met.add(Object.freeze(value));
  for (const item of Object.values(value)) freezeInput(item, met);
}
