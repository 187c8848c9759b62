import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The part of `fs.watch` in use. */
export type WatchFolder = (path: string, listener: (event: string, name: string | null) => void) => FolderEvents;

export interface FolderEvents {
  on(event: 'error', listener: () => void): unknown;
  close(): void;
}

export interface WatchFoldersOptions {
  /** Absolute paths of the folders to watch, existing or not. Called at each update; must not fail. */
  readonly folders: () => Iterable<string> | Promise<Iterable<string>>;
  /** Called with the absolute path that may have changed, or `undefined` if anything may have. */
  readonly changed: (path: string | undefined) => void;
  /** Default: `fs.watch` of Node.js. */
  readonly watchFolder?: WatchFolder;
  /** Delay before a failed watch is retried. Milliseconds, default 1,000. */
  readonly retryMs?: number;
}

/** Watches folders that may appear, disappear and be replaced. Keeps the process alive until it is closed. */
export interface FolderWatch {
  /**
   * Reads the list of folders and watches them. Resolves once no further change can be missed, with the reasons why some folders
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
 * Watches folders with native events: one watch per folder, and one on the nearest parent of each missing folder. Nothing is
 * polled, so changes on file systems that report none, such as many network mounts, go unnoticed. Starts with the first `update`.
 *
 * Chokidar, the usual library, watches or polls whole trees; here the files are known.
 */
export function watchFolders(options: WatchFoldersOptions): FolderWatch {
  return new KnownFolders(options);
}

class KnownFolders implements FolderWatch {
  readonly #options: WatchFoldersOptions;
  readonly #watches = new Map<string, OpenWatch>();
  /** Requested folders, and parents of missing ones. */
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
    // One at a time; a pending update serves every caller.
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
    // A folder may have been replaced before it was watched.
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
    // Changes in a new folder were not reported until now. On the first update there is nothing to report.
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

  /** True if another look is needed: a folder has just been watched, or is no longer the one found. */
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
      // An event of the folder itself: it was moved or removed, and may be replaced.
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

  /** The identity of each existing folder, including the nearest parents of missing ones. */
  async #identify(folders: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    const wanted = new Set<string>();
    // Set before any path is examined, so that later events are reported.
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

/** `undefined` if it does not exist or cannot be examined: it may appear later. */
async function findIdentity(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path, { bigint: true });
    return found.isDirectory() ? `${found.dev} ${found.ino} ${found.birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}
