import type { FilesystemReader, PolicyContext, PolicyResult, PreparedCall, Tool, Touched } from '@holdfast/core';
import { hasMask } from '@holdfast/core';
import { maskedJson, unknownObject } from './masked-json.ts';
import type { RecordedCall } from './recorded-calls.ts';

/** Told whenever a policy looks at something that a log does not have. */
export type Missed = (what: string) => void;

export interface EvidenceOptions {
  readonly tool: Tool | undefined;
  /** Resolves paths as the filesystem of the session did, as far as that can be known. */
  readonly paths: Pick<FilesystemReader, 'resolve'> | undefined;
}

/**
 * A call as a policy sees it. It is the same object in `check` and in `onResult`, as policies may count on, so `missed` is asked for
 * at every look.
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
  });
}

/** A tool of which only what the log says is known. */
function unknownTool({ tool: name, dangerous }: RecordedCall, missed: () => Missed): Tool {
  const known = { name, dangerous } as Tool;
  return unknownObject(known, (key) => {
    if (typeof key === 'string' && !Object.hasOwn(known, key)) {
      missed()(`what the tool \`${name}\` declares is not in the log`);
    }
  });
}

/** `doubt`: why the state may not be what it was. */
export function contextEvidence(
  { state, deadline, session }: PolicyContext,
  { paths, doubt }: Pick<EvidenceOptions, 'paths'> & { readonly doubt: string | undefined },
  missed: Missed,
): PolicyContext {
  const look = (): void => {
    if (doubt !== undefined) missed(doubt);
  };
  const isObject = typeof state === 'object' && state !== null;
  const shown = doubt !== undefined && isObject ? unknownObject(state, look) : state;
  return Object.freeze({
    get state() {
      // A collection that is only handed on is not looked at yet.
      if (!isObject) look();
      return shown;
    },
    deadline,
    session: Object.freeze({
      read: ((slice) => {
        missed('the state of the session is not rebuilt here');
        return session.read(slice);
      }) as typeof session.read,
    }),
    filesystem: filesystemEvidence(paths, missed),
  });
}

const noFiles = 'the content of files is not in a log';

function filesystemEvidence(paths: EvidenceOptions['paths'], missed: Missed): FilesystemReader {
  const refuse = async (): Promise<never> => {
    missed(noFiles);
    // Whatever the policy makes of this, its answer is not taken.
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
  // What nested calls wrote, policies were told of when these ended.
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
