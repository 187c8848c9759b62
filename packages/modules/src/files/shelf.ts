import type { ModuleDiagnostic } from '../signature/problems.ts';
import type { ModuleEvent } from './event.ts';
import { type KnownSignatures, type LoadedFile, type LoadedModule, loadModule, readManifest } from './load-module.ts';
import { type ManifestEntry, manifestPath } from './manifest.ts';
import type { ModuleSource } from './source.ts';

/** The modules in force, each in its last good version. Immutable: a reload creates a new one. */
export interface ModuleShelf {
  /** The entries of the last good manifest, in its order. */
  readonly entries: ReadonlyMap<string, ManifestEntry>;
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The problems of the manifest itself. */
  readonly ofManifest: readonly ModuleDiagnostic[];
  /** The problems of each module at its last reading. Absent for modules without problems. */
  readonly ofModules: ReadonlyMap<string, readonly ModuleDiagnostic[]>;
}

export const emptyShelf: ModuleShelf = { entries: new Map(), modules: new Map(), ofManifest: [], ofModules: new Map() };

export type ModuleChange =
  | { readonly type: 'all' }
  /** These files may have changed. */
  | { readonly type: 'files'; readonly paths: ReadonlySet<string> }
  /** Reload this module and its manifest entry. */
  | { readonly type: 'module'; readonly moduleId: string };

export interface ShelfSource extends KnownSignatures {
  readonly source: ModuleSource;
}

export interface ShelfReading {
  readonly shelf: ModuleShelf;
  readonly events: readonly ModuleEvent[];
  /** Missing files of modules in force. They may come back shortly, so their modules stay unchanged for now. */
  readonly doubted: readonly string[];
}

export interface ReadChangeOptions extends ShelfSource {
  /** True if a missing file counts as deleted. Default: always. */
  readonly isGone?: (path: string) => boolean;
}

/** Maximum number of readings of files that change meanwhile. Later readings are short, so that they keep up with concurrent saves. */
const maxReadings = 100;
/**
 * Number of consecutive readings that must find the same mismatch between files and manifest before it counts. A single one may be due to a
 * save in progress.
 */
const sameReadings = 5;

/** All diagnostics, those of the manifest first. */
export function listDiagnostics({ ofManifest, ofModules }: ModuleShelf): readonly ModuleDiagnostic[] {
  return [...ofManifest, ...[...ofModules.values()].flat()];
}

/** Reads the files that may have changed. Never rejects because of a source's content. */
export async function readChange(
  before: ModuleShelf,
  change: ModuleChange,
  { isGone = () => true, ...source }: ReadChangeOptions,
): Promise<ShelfReading> {
  const fitting = new Map<string, FittingFile>();
  let last = '';
  let same = 0;
  for (let count = 1; ; count += 1) {
    const listing = await readListing(before, change, source.source);
    const due = [...listing.entries].filter(([moduleId, entry]) => isDue(moduleId, entry, { before, change, listing }));
    const files = await readFiles(due, { ...source, fitting });
    const outdated = files.filter(isOutdated).flatMap(({ diagnostics }) => diagnostics.map(({ message }) => message));
    const found = [listing.text, ...outdated].join('\n');
    same = found === last ? same + 1 : 1;
    last = found;
    const isSettled = outdated.length === 0 || listing.text === undefined || same === sameReadings;
    if (isSettled || count === maxReadings) return settle(before, { listing, files, isGone });
  }
}

function isOutdated({ diagnostics }: ReadFile): boolean {
  return diagnostics.some(({ reason }) => reason === 'file_missing' || reason === 'hash_mismatch');
}

interface Readings {
  readonly listing: Listing;
  readonly files: readonly ReadFile[];
  readonly isGone: (path: string) => boolean;
}

function settle(before: ModuleShelf, { listing, files, isGone }: Readings): ShelfReading {
  const modules = new Map(before.modules);
  const ofModules = new Map(before.ofModules);
  const events = [...listing.events];
  const doubted: string[] = [];
  for (const [moduleId, diagnostics] of listing.refused) {
    ofModules.set(moduleId, diagnostics);
    events.push({ type: 'module-failed', moduleId, diagnostics, isKept: modules.has(moduleId) });
  }
  for (const { moduleId, path, module, diagnostics } of files) {
    const former = modules.get(moduleId);
    const isMissing = diagnostics.some(({ reason }) => reason === 'file_missing');
    if (isMissing && former !== undefined && !isGone(path)) {
      doubted.push(path);
      continue;
    }
    const wasBad = hasError(ofModules.get(moduleId));
    if (diagnostics.length === 0) ofModules.delete(moduleId);
    else ofModules.set(moduleId, diagnostics);
    if (module === undefined) {
      if (isMissing && modules.delete(moduleId)) events.push({ type: 'module-removed', moduleId });
      else events.push({ type: 'module-failed', moduleId, diagnostics, isKept: former !== undefined });
    } else if (former !== undefined && !wasBad && isSameVersion(former, module)) {
      events.push({ type: 'module-skipped', moduleId });
    } else {
      modules.set(moduleId, module);
      events.push({ type: former === undefined ? 'module-added' : 'module-changed', moduleId });
    }
  }
  for (const moduleId of [...modules.keys()]) {
    if (listing.listed.has(moduleId)) continue;
    modules.delete(moduleId);
    events.push({ type: 'module-removed', moduleId });
  }
  const shelf = {
    entries: listing.entries,
    modules: inOrder(modules, listing.listed),
    ofManifest: listing.ofManifest,
    // Drops the problems of modules that are no longer listed.
    ofModules: inOrder(ofModules, listing.listed),
  };
  return { shelf, events, doubted };
}

interface Listing {
  readonly entries: ReadonlyMap<string, ManifestEntry>;
  /** Modules whose manifest entry is invalid. */
  readonly refused: ReadonlyMap<string, readonly ModuleDiagnostic[]>;
  /** All ids in the manifest. */
  readonly listed: ReadonlySet<string>;
  readonly ofManifest: readonly ModuleDiagnostic[];
  readonly events: readonly ModuleEvent[];
  /** The text of the manifest, if it was read and is valid. */
  readonly text: string | undefined;
}

async function readListing(before: ModuleShelf, change: ModuleChange, source: ModuleSource): Promise<Listing> {
  const { entries } = before;
  const last = {
    entries,
    refused: new Map(),
    listed: new Set([...entries.keys(), ...before.ofModules.keys()]),
    ofManifest: before.ofManifest,
    events: [],
    text: undefined,
  };
  if (change.type === 'files' && !change.paths.has(manifestPath)) return last;
  const manifest = await readManifest(source);
  if (manifest.type !== 'manifest') {
    const { diagnostics } = manifest;
    return { ...last, ofManifest: diagnostics, events: [{ type: 'manifest-failed', diagnostics }] };
  }
  const refused = groupByModule(manifest.diagnostics, manifest.entries);
  const ofManifest = manifest.diagnostics.filter(({ moduleId }) => moduleId === undefined || !refused.has(moduleId));
  if (change.type !== 'module') {
    const listed = new Set([...manifest.entries.keys(), ...refused.keys()]);
    return { entries: manifest.entries, refused, listed, ofManifest, events: [], text: manifest.text };
  }
  return {
    ...last,
    ...putOne(last, change.moduleId, { entries: manifest.entries, refused }),
    ofManifest,
    text: manifest.text,
  };
}

type Listed = Pick<Listing, 'entries' | 'refused' | 'listed'>;

/** `last` with one module replaced. */
function putOne(last: Listed, moduleId: string, now: Omit<Listed, 'listed'>): Listed {
  const entries = new Map(last.entries);
  const listed = new Set(last.listed);
  const entry = now.entries.get(moduleId);
  const diagnostics = now.refused.get(moduleId);
  if (entry === undefined) entries.delete(moduleId);
  else entries.set(moduleId, entry);
  if (entry === undefined && diagnostics === undefined) listed.delete(moduleId);
  else listed.add(moduleId);
  return { entries, listed, refused: new Map(diagnostics === undefined ? [] : [[moduleId, diagnostics]]) };
}

/** The problems of modules without an entry, by module. */
function groupByModule(
  diagnostics: readonly ModuleDiagnostic[],
  entries: ReadonlyMap<string, ManifestEntry>,
): ReadonlyMap<string, readonly ModuleDiagnostic[]> {
  const grouped = new Map<string, ModuleDiagnostic[]>();
  for (const diagnostic of diagnostics) {
    const { moduleId } = diagnostic;
    if (moduleId === undefined || entries.has(moduleId)) continue;
    const known = grouped.get(moduleId);
    if (known === undefined) grouped.set(moduleId, [diagnostic]);
    else known.push(diagnostic);
  }
  return grouped;
}

interface DueContext {
  readonly before: ModuleShelf;
  readonly change: ModuleChange;
  readonly listing: Listing;
}

function isDue(moduleId: string, entry: ManifestEntry, { before, change, listing }: DueContext): boolean {
  if (change.type === 'all') return true;
  if (change.type === 'module') return change.moduleId === moduleId;
  if (change.paths.has(entry.path)) return true;
  if (listing.text === undefined) return false;
  // A problem in the manifest may have caused the error.
  return hasError(before.ofModules.get(moduleId)) || !isSameEntry(before.entries.get(moduleId), entry);
}

function isSameEntry(one: ManifestEntry | undefined, other: ManifestEntry): boolean {
  return one?.path === other.path && one.hash === other.hash && isSameList(one.tags, other.tags);
}

function isSameVersion(one: LoadedModule, other: LoadedModule): boolean {
  return one.hash === other.hash && one.path === other.path && isSameList(one.tags, other.tags);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

function hasError(diagnostics: readonly ModuleDiagnostic[] | undefined): boolean {
  return diagnostics?.some(({ severity }) => severity === 'error') === true;
}

function inOrder<Value>(values: ReadonlyMap<string, Value>, ids: Iterable<string>): ReadonlyMap<string, Value> {
  const ordered = new Map<string, Value>();
  for (const id of ids) {
    const value = values.get(id);
    if (value !== undefined) ordered.set(id, value);
  }
  return ordered;
}

interface ReadFile extends LoadedFile {
  readonly moduleId: string;
  readonly path: string;
}

/** A file that matches its entry need not be read again for the same entry. */
interface FittingFile {
  readonly entry: ManifestEntry;
  readonly file: ReadFile;
}

/** A number of files that can safely be open at once. */
const groupSize = 32;

async function readFiles(
  entries: readonly (readonly [string, ManifestEntry])[],
  { source, signatures, fitting }: ShelfSource & { readonly fitting: Map<string, FittingFile> },
): Promise<readonly ReadFile[]> {
  const files: ReadFile[] = [];
  for (let start = 0; start < entries.length; start += groupSize) {
    const group = entries.slice(start, start + groupSize).map(async ([moduleId, entry]): Promise<ReadFile> => {
      const known = fitting.get(moduleId);
      if (known !== undefined && isSameEntry(known.entry, entry)) return known.file;
      const file = { moduleId, path: entry.path, ...(await loadModule(source, moduleId, entry, { signatures })) };
      if (!isOutdated(file)) fitting.set(moduleId, { entry, file });
      return file;
    });
    files.push(...(await Promise.all(group)));
  }
  return files;
}
