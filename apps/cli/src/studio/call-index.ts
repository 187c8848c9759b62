import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Host } from '../terminal/host.ts';
import { hasCode } from '../terminal/system.ts';
import type { FoundSession } from '../workspace/known.ts';
import { type ListedCall, LogCalls } from './log-calls.ts';
import { listMachineLogs } from './machine-logs.ts';
import { type LogPlace, readTail } from './read-tail.ts';

/** A call and where it is. `key` names it in this process. */
export interface IndexedCall extends ListedCall {
  readonly key: number;
  readonly log: IndexedLog;
  /** The texts of a search, in lower case. */
  readonly searched: string;
}

/** A log that is followed. */
export interface IndexedLog extends FoundSession {
  /** Names it in links. */
  readonly ref: string;
  /** Changes whenever its file does. */
  readonly stamp: string;
  readonly calls: readonly IndexedCall[];
}

export interface CallFilter {
  readonly tool?: string | undefined;
  readonly decision?: string | undefined;
  readonly outcome?: string | undefined;
  /** The `ref` of a log. */
  readonly session?: string | undefined;
  /** In any case, in tool, arguments, question, message or id. */
  readonly text?: string | undefined;
}

interface Followed {
  stamp: string;
  place: LogPlace | undefined;
  readonly calls: IndexedCall[];
  readonly log: IndexedLog;
  readonly reader: LogCalls;
}

/** The calls of all logs of this machine, in memory, oldest first. A refresh reads only what was appended. */
export class CallIndex {
  /** Counts the changes. */
  version = 0;
  problems: readonly string[] = [];
  readonly #host: Pick<Host, 'environment' | 'directory'>;
  readonly #logs = new Map<string, Followed>();
  readonly #calls: IndexedCall[] = [];
  #refreshing: Promise<void> | undefined;
  #found: { readonly question: string; readonly calls: readonly IndexedCall[] } | undefined;
  /** All calls, newest first: sorting takes longer than any filter. */
  #sorted: { readonly version: number; readonly calls: readonly IndexedCall[] } = { version: -1, calls: [] };

  constructor(host: Pick<Host, 'environment' | 'directory'>) {
    this.#host = host;
  }

  /** Requests at the same time share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  logs(): readonly IndexedLog[] {
    return [...this.#logs.values()].map(({ log }) => log);
  }

  log(ref: string): IndexedLog | undefined {
    return this.#logs.get(ref)?.log;
  }

  call(key: number): IndexedCall | undefined {
    return this.#calls[key];
  }

  /** Newest first. */
  find(filter: CallFilter): readonly IndexedCall[] {
    const question = JSON.stringify([this.version, filter]);
    if (this.#found?.question !== question) {
      const { tool, decision, outcome, session, text = '' } = filter;
      const wanted = text.toLowerCase();
      const calls = this.#newestFirst().filter(
        (call) =>
          (tool === undefined || call.name === tool) &&
          (decision === undefined || call.decision === decision) &&
          (outcome === undefined || call.state === outcome) &&
          (session === undefined || call.log.ref === session) &&
          (wanted === '' || call.searched.includes(wanted)),
      );
      this.#found = { question, calls };
    }
    return this.#found.calls;
  }

  #newestFirst(): readonly IndexedCall[] {
    const { version } = this;
    if (this.#sorted.version !== version) {
      const calls = this.#calls.toSorted((one, other) => timeOf(other) - timeOf(one) || other.key - one.key);
      this.#sorted = { version, calls };
    }
    return this.#sorted.calls;
  }

  async #refresh(): Promise<void> {
    const { logs, problems } = await listMachineLogs(this.#host);
    if (JSON.stringify(problems) !== JSON.stringify(this.problems)) this.version += 1;
    this.problems = problems;
    for (const found of logs) await this.#follow(found);
  }

  async #follow(found: FoundSession): Promise<void> {
    const stamp = await stampOf(found.path);
    const ref = createHash('sha256').update(found.path).digest('hex').slice(0, 16);
    const known = this.#logs.get(ref);
    if (stamp === undefined || known?.stamp === stamp) return;
    const followed = known ?? this.#open(found, ref);
    followed.stamp = stamp;
    followed.place = await readTail(found.path, followed.place, (record) => followed.reader.take(record));
    this.version += 1;
  }

  #open(found: FoundSession, ref: string): Followed {
    const calls: IndexedCall[] = [];
    const keys = new Map<number, { readonly key: number; readonly at: number }>();
    const followed: Followed = {
      stamp: '',
      place: undefined,
      calls,
      log: {
        ...found,
        ref,
        calls,
        get stamp() {
          return followed.stamp;
        },
      },
      reader: new LogCalls((own, call) => {
        const { key, at } = keys.get(own) ?? { key: this.#calls.length, at: calls.length };
        keys.set(own, { key, at });
        const indexed = { ...call, key, log: followed.log, searched: searchedOf(call) };
        this.#calls[key] = indexed;
        calls[at] = indexed;
      }),
    };
    this.#logs.set(ref, followed);
    return followed;
  }
}

/** When it was first seen. */
export function timeOf({ askedAtMs, startedAtMs, endedAtMs }: ListedCall): number {
  return askedAtMs ?? startedAtMs ?? endedAtMs ?? 0;
}

function searchedOf({ name, arguments: line, question, message, callId }: ListedCall): string {
  return [name, line, question, message, callId].join('\n').toLowerCase();
}

/** `undefined` for a log that was removed meanwhile. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino}-${size}-${mtimeMs}`;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}
