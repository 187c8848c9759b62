import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { LogEntry } from './log.ts';

/** Committed changes that only one machine has, because they were prepared there and are not known to be applied. */
export interface OpenStaged {
  readonly mark: string;
  /** The machine. */
  readonly host: string;
  readonly resources: readonly string[];
  /** True if its process has ended. */
  readonly interrupted: boolean;
}

interface Staged extends OpenStaged {
  readonly call: string;
  readonly committed: boolean;
}

/** Tracks the staged changes of calls, from `resources-staged` to `resources-settled` or `resources-abandoned`. */
export class StagedLedger {
  readonly #staged = new Map<string, Staged>();

  get empty(): boolean {
    return this.#staged.size === 0;
  }

  /** @throws Error for JSON not created by `toJson`. */
  load(json: Json | undefined): void {
    for (const each of json === undefined ? [] : toList(json)) this.#put(each, each['committed'] === true);
  }

  /** `undefined` if there are none, as in logs of one machine. */
  toJson(): Json | undefined {
    if (this.#staged.size === 0) return undefined;
    return [...this.#staged.values()].map(({ interrupted: _interrupted, ...staged }) => staged);
  }

  read(): readonly OpenStaged[] {
    return [...this.#staged.values()].flatMap(({ call: _call, committed, ...staged }) =>
      committed ? [Object.freeze(staged)] : [],
    );
  }

  interrupt(): void {
    for (const [mark, staged] of this.#staged) this.#staged.set(mark, { ...staged, interrupted: true });
  }

  /** `call`: the call's key. */
  note(entry: LogEntry, call: string): void {
    switch (entry.type) {
      case 'resources-staged':
        this.#put({ ...entry, call }, false);
        return;
      case 'tool-call-end':
        if (entry['parentId'] === undefined) this.#end(entry['mark'], call);
        return;
      case 'resources-settled':
        this.#settle(String(entry['mark']), toNames(entry['resources']));
        return;
      case 'resources-abandoned':
        for (const [mark, { host }] of this.#staged) if (host === entry['host']) this.#staged.delete(mark);
        return;
      default:
    }
  }

  /** Without the mark in its end record, the changes of a call do not count. */
  #end(committed: unknown, call: string): void {
    for (const [mark, staged] of this.#staged) {
      if (mark === committed) this.#staged.set(mark, { ...staged, committed: true });
      else if (staged.call === call && !staged.committed) this.#staged.delete(mark);
    }
  }

  #settle(mark: string, names: readonly string[]): void {
    const staged = this.#staged.get(mark);
    if (staged === undefined) return;
    const resources = staged.resources.filter((name) => !names.includes(name));
    if (resources.length === 0) this.#staged.delete(mark);
    else this.#staged.set(mark, { ...staged, resources });
  }

  #put(json: Readonly<Record<string, Json>>, committed: boolean): void {
    const { mark, host, resources, call } = json;
    const staged = { mark: String(mark), host: String(host), resources: toNames(resources), call: String(call) };
    this.#staged.set(staged.mark, { ...staged, committed, interrupted: false });
  }
}

function toList(json: Json): readonly Readonly<Record<string, Json>>[] {
  if (Array.isArray(json) && json.every(isPlainObject)) return json as readonly Readonly<Record<string, Json>>[];
  throw new Error('it does not list the staged changes');
}

function toNames(json: Json | undefined): readonly string[] {
  return Array.isArray(json) ? json.map(String) : [];
}
