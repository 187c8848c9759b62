import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What `node:fs` does, as far as it is needed. */
export type WatchFolder = (path: string, listener: (event: string, name: string | null) => void) => FolderEvents;

export interface FolderEvents {
  on(event: 'error', listener: () => void): unknown;
  close(): void;
}

export interface WatchFoldersOptions {
  /** Absolute paths of the folders that count now, whether they exist or not. Asked at each update; must not fail. */
  readonly folders: () => Iterable<string> | Promise<Iterable<string>>;
  /** Told the absolute path of what may have changed in one of the folders, or `undefined` where anything may have. */
  readonly changed: (path: string | undefined) => void;
  /** Default: the one of `node:fs`. */
  readonly watchFolder?: WatchFolder;
  /** How long to wait before folders that cannot be watched are tried again. Milliseconds, default 1,000. */
  readonly retryMs?: number;
}

/** A watch of folders, each of which may come, go and be replaced. Keeps the process alive until it is closed. */
export interface FolderWatch {
  /**
   * Asks which folders count, and watches them. Resolves, once no change in them can be missed any more, with the reasons why some
   * cannot be watched. Never rejects.
   */
  update(): Promise<readonly unknown[]>;
  close(): void;
}

interface OpenWatch {
  readonly identity: string;
  readonly events: FolderEvents;
  isStale: boolean;
}

/**
 * Watches folders with the means of the system: one watch a folder, and one on the nearest folder above each missing one. Nothing is
 * polled, so changes on file systems that report none, such as many network mounts, go unnoticed. Begins with the first `update`.
 *
 * Not by a library: chokidar, the usual one, watches or polls everything in a tree, while here the files are known.
 */
export function watchFolders(options: WatchFoldersOptions): FolderWatch {
  return new KnownFolders(options);
}

class KnownFolders implements FolderWatch {
  readonly #options: WatchFoldersOptions;
  readonly #watches = new Map<string, OpenWatch>();
  /** Those that count, and those waited for. */
  #wanted: ReadonlySet<string> = new Set();
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<readonly unknown[]> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #hasBegun = false;
  #isClosed = false;

  constructor(options: WatchFoldersOptions) {
    this.#options = options;
  }

  update(): Promise<readonly unknown[]> {
    // One at a time; an update that has not begun serves every caller.
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#update();
    });
    this.#last = this.#next;
    return this.#next;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    for (const { events } of this.#watches.values()) events.close();
    this.#watches.clear();
  }

  async #update(): Promise<readonly unknown[]> {
    const { changed, retryMs = 1000 } = this.#options;
    const before = this.#wanted;
    const failures: unknown[] = [];
    let isNew = false;
    // Another folder may have come into one before it was watched.
    for (let isMore = true; isMore; isNew ||= isMore) {
      failures.length = 0;
      const found = await this.#identify(await this.#options.folders());
      if (this.#isClosed) return [];
      this.#closeOthers(found);
      isMore = await this.#openAll(found, failures);
      if (this.#isClosed) return [];
    }
    clearTimeout(this.#retry);
    if (failures.length > 0) this.#retry = setTimeout(() => void this.update(), retryMs);
    // Nobody has reported what happened in a new folder until now. At the beginning, nobody knows anything that could have changed.
    if (this.#hasBegun && (isNew || [...this.#wanted].some((path) => !before.has(path)))) changed(undefined);
    this.#hasBegun = true;
    return failures;
  }

  #closeOthers(found: ReadonlyMap<string, string>): void {
    for (const [path, { identity, isStale, events }] of this.#watches) {
      if (!isStale && found.get(path) === identity) continue;
      events.close();
      this.#watches.delete(path);
    }
  }

  /** Whether to look again: a folder is watched only now, or is not the one any more that was found. */
  async #openAll(found: ReadonlyMap<string, string>, failures: unknown[]): Promise<boolean> {
    let isMore = false;
    for (const [path, identity] of found) {
      if (this.#watches.has(path)) continue;
      try {
        this.#open(path, identity);
        isMore = true;
      } catch (thrown) {
        if ((await findIdentity(path)) === identity) failures.push(thrown);
        else isMore = true;
        if (this.#isClosed) return false;
      }
    }
    return isMore;
  }

  #open(path: string, identity: string): void {
    const { watchFolder = watch, changed } = this.#options;
    const events = watchFolder(path, (_event, name) => {
      // Reported of the folder itself when it is moved or removed, and another may take its place.
      if (name === basename(path)) own.isStale = true;
      if (name !== null && !own.isStale && !this.#wanted.has(join(path, name))) changed(join(path, name));
      else this.#rearrange();
    });
    const own: OpenWatch = { identity, events, isStale: false };
    this.#watches.set(path, own);
    events.on('error', () => {
      own.isStale = true;
      this.#rearrange();
    });
  }

  #rearrange(): void {
    this.#options.changed(undefined);
    void this.update();
  }

  /** What each folder is that exists, among them the nearest one above each that does not. */
  async #identify(folders: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    const wanted = new Set<string>();
    // At once, and each path before it is examined: what comes afterwards is reported.
    this.#wanted = wanted;
    const found = new Map<string, string>();
    const waiting = [...folders];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (wanted.has(path)) continue;
      wanted.add(path);
      const identity = await findIdentity(path);
      if (identity !== undefined) found.set(path, identity);
      else waiting.push(dirname(path));
    }
    return found;
  }
}

/** `undefined` for what does not exist or cannot be examined: it may come. */
async function findIdentity(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path, { bigint: true });
    return found.isDirectory() ? `${found.dev} ${found.ino} ${found.birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}
