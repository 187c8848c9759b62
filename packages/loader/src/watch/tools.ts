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

/** What a reload has changed, by tool names in file order. */
export interface ToolReload {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Tools that stay as they were when they were last good, as their files are no good now. */
  readonly kept: readonly string[];
}

export interface WatchToolsOptions extends LoadToolsOptions {
  /** Told after a reload by which the tools, or the diagnostics, have become others. What it throws is of no consequence. */
  readonly onReload?: (reload: ToolReload) => void;
}

/** The tools of a folder as it is now. The properties are replaced together; what they hold never changes. */
export interface WatchedTools extends LoadedTools {
  /** In file order. The same array, of the same tools, as long as none of them has changed. */
  readonly tools: readonly Tool[];
  /** Reads the folder again, changed or not; resolves when what it holds now is in force. Never rejects. */
  reload(): Promise<void>;
  /** Ends the watching, the processes in which tools run, and the calls in them. */
  close(): Promise<void>;
}

/** For tests, which bring their own events and change files in between. */
export interface WatchSeams extends PinHooks {
  readonly watchFiles?: WatchFiles;
  readonly clock?: Clock;
}

/**
 * Loads the tools of a folder as `loadTools` does, and again whenever a file of theirs changes: the folder's own, those that they import
 * by path, and the lock. A call goes on with the version that it began with. A file that is refused now keeps the tool that it last
 * had, with a lock as long as that is the one which is locked; a file that is gone keeps none. A reload that fails as a whole, such as
 * one of a folder that is gone, changes no tool. Keeps the process alive until it is closed.
 *
 * Without a lock, too, a tool and what it imports by path run from copies, in `.holdfast` beside the folder; one that cannot run from a
 * copy runs where it lies, with the warning `tool.watch.unkept`.
 *
 * @throws HoldfastError as `loadTools`, for the folder as it is at first.
 */
export function watchTools(directory: string, options: WatchToolsOptions = {}): Promise<WatchedTools> {
  return watchToolsWith(directory, options, {});
}

/** As `watchTools`, for tests. */
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
  /** Absolute paths of files that count beside those of the tools. */
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
  /** Those of them that the folder has brought about. */
  #ofFolder: readonly Diagnostic[] = [];
  readonly #made = new WeakMap<ToolVersion, ExecutableTool>();
  /** What this process has imported and is of the past. */
  readonly #retained = new Set<string>();
  /** What cannot be watched. */
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
    // What changes meanwhile is read afterwards.
    this.#last = begun.catch(() => undefined);
    try {
      await begun;
    } catch (thrown) {
      await this.close();
      throw thrown;
    }
  }

  changed(): void {
    // Not put off by what comes later: changes that never end must not go unseen.
    if (this.#cancelTimer !== undefined || this.#closing !== undefined) return;
    this.#cancelTimer = this.#parts.clock.after(settleMs, () => {
      this.#cancelTimer = undefined;
      void this.reload();
    });
  }

  reload(): Promise<void> {
    // Whoever asks while one has not begun has that one.
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
    // Before anything is read: what changes from now on is told.
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
      // An observer cannot be of harm to the tools.
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

  /** Also what is true of the watch itself. */
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
