import { dirname } from 'node:path';
import { type Clock, type ExecutableTool, systemClock, type Tool } from '@holdfast/core';
import { defaultIsolation } from '../isolate/tiers.ts';
import { createToolHost, type ToolHost } from '../load/tool-host.ts';
import type { LoadedTools, LoadToolsOptions } from '../load/tools.ts';
import { findLockPlace, type PinHooks } from '../pins/folder.ts';
import type { ScannedFile } from '../scan/folder.ts';
import { listToolFiles } from '../scan/tool-files.ts';
import { compareDiagnostics, type Diagnostic } from '../text/diagnostic.ts';
import { createWatchCopies, type WatchCopies } from './copies.ts';
import { type FileWatcher, type WatchFiles, watchFiles } from './files.ts';
import { describeBlindness, describeFailure, describeRetained } from './findings.ts';
import {
  type MergedVersions,
  mergeVersions,
  readLockedVersions,
  readVersions,
  type ToolVersion,
  type VersionReading,
} from './versions.ts';

/** The changes of a reload, as tool names in file order. */
export interface ToolReload {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Tools that keep their last valid version because their files are now invalid. */
  readonly kept: readonly string[];
}

export interface WatchToolsOptions extends LoadToolsOptions {
  /** Called after a reload that changed the tools or the diagnostics. Errors are ignored. */
  readonly onReload?: (reload: ToolReload) => void;
}

/** The current tools of a folder. The properties are replaced together; their values never change. */
export interface WatchedTools extends LoadedTools {
  /** In file order. The same array as long as no tool has changed. */
  readonly tools: readonly Tool[];
  /** Reads the folder again; resolves when its current content is active. Never rejects. */
  reload(): Promise<void>;
  /** Stops watching, and ends all running calls and their processes. */
  close(): Promise<void>;
}

/** For tests, which simulate events and change files in between. */
export interface WatchSeams extends PinHooks {
  readonly watchFiles?: WatchFiles;
  readonly clock?: Clock;
}

/**
 * Loads the tools of a folder like `loadTools`, and reloads them when a file changes: in the folder, one that they
 * import by path, or the lock. A running call finishes with its version. A file that is now refused keeps its last
 * valid tool, with a lock only while that version is locked; a removed file keeps none. A reload that fails as a whole,
 * e.g. because the folder is gone, changes no tool. Keeps the process alive until closed.
 *
 * Even without a lock, a tool and its path imports run from copies, in `.holdfast` beside the folder; a tool that
 * cannot run from a copy runs in place, with the warning `tool.watch.failed`.
 *
 * @throws HoldfastError as `loadTools`, for the initial state of the folder.
 */
export function watchTools(directory: string, options: WatchToolsOptions = {}): Promise<WatchedTools> {
  return watchToolsWith(directory, options, {});
}

/** Like `watchTools`, for tests. */
export async function watchToolsWith(
  directory: string,
  {
    lock,
    isolation = defaultIsolation,
    processes = {},
    environment,
    onReload = () => undefined,
    ...scan
  }: WatchToolsOptions,
  { watchFiles: watch = watchFiles, clock = systemClock, ...hooks }: WatchSeams,
): Promise<WatchedTools> {
  const options = { scan, hooks };
  let copies: WatchCopies | undefined;
  let beside: readonly string[] = [];
  let read: () => Promise<VersionReading>;
  if (lock === undefined) {
    const root = dirname((await listToolFiles(directory)).root);
    const own = await createWatchCopies(root);
    copies = own;
    read = () => readVersions({ directory, root, copies: own }, options);
  } else {
    const place = await findLockPlace(directory, lock);
    beside = [place.lock];
    read = () => readLockedVersions({ directory, root: place.root, lock: place.lock }, options);
  }
  const host = createToolHost({ isolation, processes, environment, languages: scan.languages });
  const watched = new ToolWatch({ read, host, copies, onReload, clock, beside });
  await watched.start(() =>
    watch({ directory, subfolders: scan.subfolders === true, files: beside }, () => watched.changed()),
  );
  return watched;
}

interface WatchParts {
  readonly read: () => Promise<VersionReading>;
  readonly host: ToolHost;
  readonly copies: WatchCopies | undefined;
  readonly onReload: (reload: ToolReload) => void;
  readonly clock: Clock;
  /** Absolute paths of relevant files other than those of the tools. */
  readonly beside: readonly string[];
}

/** Changes come in groups, and an editor may take a moment to write a file. */
const settleMs = 50;

class ToolWatch implements WatchedTools {
  readonly #parts: WatchParts;
  #watcher: FileWatcher | undefined;
  #versions: readonly ToolVersion[] = [];
  #tools: readonly ExecutableTool[] = Object.freeze([]);
  #files: readonly ScannedFile[] = [];
  #diagnostics: readonly Diagnostic[] = [];
  /** The diagnostics of the folder itself. */
  #ofFolder: readonly Diagnostic[] = [];
  readonly #made = new WeakMap<ToolVersion, ExecutableTool>();
  /** Outdated modules that this process has imported. */
  readonly #retained = new Set<string>();
  /** The reason why changes may be missed. */
  #blindness: Diagnostic | undefined;
  #cancelTimer: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get files(): readonly ScannedFile[] {
    return this.#files;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  async start(watch: () => Promise<FileWatcher>): Promise<void> {
    const begun = this.#begin(watch);
    // Changes during a reload are read by the next one.
    this.#last = begun.catch(() => undefined);
    try {
      await begun;
    } catch (thrown) {
      await this.close();
      throw thrown;
    }
  }

  changed(): void {
    // Later changes do not postpone it: endless changes must not delay a reload forever.
    if (this.#cancelTimer !== undefined || this.#closing !== undefined) return;
    this.#cancelTimer = this.#parts.clock.after(settleMs, () => {
      this.#cancelTimer = undefined;
      void this.reload();
    });
  }

  reload(): Promise<void> {
    // Shared by all requests until it starts.
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return this.#closing === undefined ? this.#reload() : undefined;
    });
    this.#last = this.#next;
    return this.#next;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #begin(watch: () => Promise<FileWatcher>): Promise<void> {
    // Before reading, so that later changes are reported.
    this.#watcher = await watch();
    const reading = await this.#read();
    this.#put(mergeVersions([], reading), reading);
    await this.#follow(reading);
  }

  async #end(): Promise<void> {
    this.#cancelTimer?.();
    await this.#last;
    this.#watcher?.close();
    await this.#parts.host.close();
    await this.#parts.copies?.close();
  }

  async #reload(): Promise<void> {
    const { onReload } = this.#parts;
    const before = { versions: this.#versions, diagnostics: JSON.stringify(this.#diagnostics) };
    let reading: VersionReading | undefined;
    let kept: readonly ToolVersion[] = [];
    try {
      reading = await this.#read();
      const merged = mergeVersions(this.#versions, reading);
      this.#put(merged, reading);
      kept = merged.kept;
    } catch (thrown) {
      this.#tell([describeFailure(thrown)]);
    }
    await this.#follow(reading);
    if (before.versions === this.#versions && before.diagnostics === JSON.stringify(this.#diagnostics)) return;
    try {
      onReload(compareVersions(before.versions, this.#versions, kept));
    } catch {
      // An error of the listener must not affect the tools.
    }
  }

  async #read(): Promise<VersionReading> {
    const reading = await this.#parts.read();
    for (const { version } of reading.found) {
      const { runnable, pin } = version;
      await this.#parts.host.grant(runnable.tool, () => (pin === undefined ? undefined : version.version));
    }
    return reading;
  }

  #put({ versions, diagnostics }: MergedVersions, { found, files }: VersionReading): void {
    const { host } = this.#parts;
    const inForce = new Set(versions);
    const former = this.#versions;
    const isSame = versions.length === former.length && versions.every((one, index) => one === former[index]);
    if (!isSame) {
      this.#tools = Object.freeze(versions.map((version) => this.#toTool(version)));
      this.#versions = versions;
    }
    this.#files = files;
    for (const { version } of found) if (!inForce.has(version)) version.release();
    for (const version of former) {
      if (inForce.has(version)) continue;
      if (host.retire(version.runnable)) this.#retained.add(version.version);
      version.release();
    }
    this.#tell(diagnostics);
  }

  #toTool(version: ToolVersion): ExecutableTool {
    const made = this.#made.get(version) ?? this.#parts.host.toTool(version.runnable);
    this.#made.set(version, made);
    return made;
  }

  /** Adds the diagnostics of the watch itself. */
  #tell(diagnostics: readonly Diagnostic[]): void {
    this.#ofFolder = diagnostics;
    const inForce = new Set(this.#versions.map(({ version }) => version));
    const former = [...this.#retained].filter((version) => !inForce.has(version)).length;
    const own = [this.#blindness, former === 0 ? undefined : describeRetained(former)];
    this.#diagnostics = [...diagnostics, ...own.filter((one) => one !== undefined)].sort(compareDiagnostics);
  }

  async #follow(reading: VersionReading | undefined): Promise<void> {
    const known = this.#versions.flatMap(({ paths }) => paths);
    const paths = [...this.#parts.beside, ...(reading?.paths ?? []), ...known];
    const failures = (await this.#watcher?.follow(paths).catch((thrown: unknown) => [thrown])) ?? [];
    this.#blindness = failures.length === 0 ? undefined : describeBlindness(failures[0]);
    this.#tell(this.#ofFolder);
  }
}

function compareVersions(
  before: readonly ToolVersion[],
  after: readonly ToolVersion[],
  kept: readonly ToolVersion[],
): ToolReload {
  const nameOf = ({ runnable }: ToolVersion): string => runnable.tool.metadata.name;
  const last = new Map(before.map((one) => [nameOf(one), one]));
  const now = new Set(after.map(nameOf));
  return {
    added: after.map(nameOf).filter((name) => !last.has(name)),
    changed: after.filter((one) => last.has(nameOf(one)) && last.get(nameOf(one)) !== one).map(nameOf),
    removed: before.map(nameOf).filter((name) => !now.has(name)),
    kept: kept.map(nameOf),
  };
}
