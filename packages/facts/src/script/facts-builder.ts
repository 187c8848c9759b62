import type { CallFacts, Place, PlaceView } from '@holdfast/core';
import type { Command, Host, Recursion, Unclear } from '@holdfast/core/types';
import { isPlainPath, isWithin, joinPath, nameOf } from '../places/path.ts';
import { Places } from '../places/places.ts';
import { type Field, show } from './field.ts';

const maxItems = 500;
// Streams of the process itself, and empty devices.
const noFile = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+|ptmx)$|^\/proc\/self\/fd\/\d+$/;

export type Use = 'reads' | 'writes' | 'deletes';

/** Collects the facts of one call: bounded, without duplicates. */
export class FactsBuilder {
  readonly places: Places;
  readonly view: PlaceView;
  readonly runs: Command[] = [];
  untrusted = false;
  readonly #files = {
    reads: new Map<string, Place>(),
    writes: new Map<string, Place>(),
    deletes: new Map<string, Place>(),
  };
  /** Places that commands filled with content or links from other places: when, and which one. */
  readonly #filled: { readonly path: string; readonly at: number; readonly by: number }[] = [];
  #started = 0;
  #current = -1;
  #repeats = false;
  #isFull = false;
  readonly #hosts = new Map<string, Host>();
  readonly #unclear = new Map<string, Unclear>();

  constructor(view: PlaceView) {
    this.view = view;
    this.places = new Places(view);
  }

  /** The position of the command. */
  run(command: Command): number {
    this.#started += 1;
    const found = this.#repeats ? this.runs.findIndex((one) => textOf(one) === textOf(command)) : -1;
    if (found !== -1) this.#current = found;
    else {
      if (this.runs.length === maxItems) this.tooMany('commands');
      else this.runs.push(command);
      this.#current = this.runs.length - 1;
    }
    return this.#current;
  }

  /** Grows with what commands put on the disk, which others of a loop or a pipeline may find there. */
  get changes(): number {
    return this.#files.writes.size;
  }

  /** Reads commands once more that may run after others that stand behind them; each is listed once. */
  repeat(read: () => void): void {
    const before = this.#repeats;
    this.#repeats = true;
    read();
    this.#repeats = before;
  }

  /** Reads commands that may run many times: what they put on the disk, they may find there. */
  readRounds<Value>(read: () => Value): Value {
    const { changes } = this;
    const first = read();
    if (this.changes > changes) this.repeat(read);
    return first;
  }

  /** Adds a use of a file, by absolute path. */
  touch(use: Use, path: string, recursive?: Recursion): Place | undefined {
    const absolute = isPlainPath(path) ? path : joinPath('/', path);
    if (/^\/(?:dev|proc)\//.test(absolute) && noFile.test(absolute)) return undefined;
    if (this.#files[use].size === maxItems) {
      this.tooMany('files');
      return undefined;
    }
    const place = this.places.place(absolute, recursive);
    if (place === undefined) {
      this.unclear({ kind: 'words', use, reason: `\`${show(path)}\` leads through too many links, or is too long` });
      return undefined;
    }
    if (use === 'writes' && recursive !== undefined) {
      this.#filled.push({ path: place.path, at: this.#started, by: this.#current });
    } else if (
      this.#filled.some(
        ({ path: folder, at, by }) => at < this.#started && by !== this.#current && isWithin(place.path, folder),
      )
    )
      this.unclear({ kind: 'words', use, reason: `what \`${show(path)}\` is was changed before by the call itself` });
    // A pattern that matches this name turns it into an option.
    if (use === 'writes' && nameOf(absolute).startsWith('-'))
      this.unclear({ kind: 'words', reason: `the name \`${show(path)}\` is an option for other programs` });
    if (this.view.disk === undefined) this.unclear({ kind: 'link', reason: 'links were not followed' });
    this.add(use, place);
    return place;
  }

  add(use: Use, place: Place): void {
    const found = this.#files[use];
    const key = place.recursive === undefined ? place.path : `${place.path}\0${JSON.stringify(place.recursive)}`;
    if (found.size === maxItems) this.tooMany('files');
    else found.set(key, place);
  }

  /** Adds a use of the files that a word names, for each folder where the command may run. */
  use(use: Use, field: Field, folders: readonly string[] | undefined, recursive?: Recursion): void {
    const { text, known, tree, ends } = field;
    if (tree !== undefined) {
      this.add(use, tree);
      return;
    }
    if (!known) {
      const reason = `the files that it ${use} are known only at run time`;
      this.unclear({ kind: 'words', use, reason, begins: text, ...(ends === undefined ? {} : { ends }) });
      return;
    }
    if (text === '') return;
    if (text.startsWith('/')) this.touch(use, text, recursive);
    else if (folders === undefined) {
      this.unclear({ kind: 'words', use, reason: `the folder of \`${show(text)}\` is unknown`, ends: text });
    } else for (const folder of folders) this.touch(use, `${folder}/${text}`, recursive);
  }

  /** True if the call itself wrote the file earlier. */
  wrote(path: string): boolean {
    if (this.#files.writes.has(path)) return true;
    return [...this.#files.writes.values()].some(
      (place) => place.recursive !== undefined && isWithin(path, place.path),
    );
  }

  /** True if the call itself creates a file of that name, or of an unknown one. */
  writesOdd(isOdd: (path: string) => boolean): boolean {
    const places = [...this.#files.writes.values()];
    return places.some(({ path, recursive }) => isOdd(path) || recursive !== undefined);
  }

  host(host: Host): void {
    if (this.#hosts.size === maxItems) this.tooMany('hosts');
    else this.#hosts.set(JSON.stringify(host), host);
    this.untrusted = true;
  }

  unclear(unclear: Unclear): void {
    if (this.#unclear.size >= maxItems) {
      // Always report that the list is incomplete.
      this.#unclear.set('limit', { kind: 'limit', reason: 'more is unclear than can be listed' });
      return;
    }
    const { kind, reason, use, begins, ends } = unclear;
    const key = `${kind} ${use} ${begins} ${ends} ${reason}`;
    this.#unclear.set(key, unclear);
  }

  tooMany(what: string): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.unclear({ kind: 'limit', reason: `it has too many ${what}` });
  }

  build(decides: readonly number[] = []): CallFacts {
    const deciding = new Set(decides);
    return {
      runs: this.runs.map((command, position) => (deciding.has(position) ? { ...command, decides: true } : command)),
      reads: [...this.#files.reads.values()],
      writes: [...this.#files.writes.values()],
      deletes: [...this.#files.deletes.values()],
      hosts: [...this.#hosts.values()],
      untrusted: this.untrusted,
      unclear: [...this.#unclear.values()],
    };
  }
}

function textOf({ program, arguments: words, folder }: Command): string {
  return JSON.stringify([program, words, folder]);
}
