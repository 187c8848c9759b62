import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown, toReason } from '@holdfast/core/internal';
import { createClosureReader } from '../imports/closure.ts';
import type { PinnedTool } from '../language/types.ts';
import type { ScannedFile } from '../scan/folder.ts';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import { compareDiagnostics, type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import { describeChanges, digestPin, findChanges } from './changes.ts';
import { isIn } from './compare.ts';
import { createPinnedCopies, type PinnedCopies, toCopiedTool } from './copies.ts';
import {
  type CurrentTool,
  type FolderPins,
  findLockPlace,
  type LockPlace,
  type PinHooks,
  readFolderPins,
  type ToolFile,
} from './folder.ts';
import { hasOwnDigest, type LockedTool, type LockedTools, parseLock, readLockBytes } from './lock-file.ts';
import { readFolderTime, writeRegisteredFolder } from './registry-file.ts';
import { startWarm, toRegistered } from './warm-start.ts';

/** A tool that may run, with its preparation. */
export interface ReadyTool {
  readonly tool: PinnedTool;
  readonly pin: LockedTool;
  /** SHA-256 in hexadecimal of the file to import. */
  readonly fileDigest: string;
  /** Ensures that the copy contains the pinned bytes. @throws HoldfastError `tool.file.changed`, `tool.file.import_failed`. */
  prepare(): Promise<void>;
  /** See `EnvironmentRequest`. */
  findDigest(): string;
}

export interface LockedFolder {
  /** In file order. */
  readonly tools: readonly ReadyTool[];
  readonly files: readonly ScannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** The content of the lock. */
  readonly locked: LockedTools;
}

/**
 * Verifies a tools folder against its lock. A tool that differs is refused with `lock.changed`; a matching one has a copy of its bytes.
 *
 * @throws HoldfastError `tools.folder.*`, `lock.invalid`.
 */
export async function loadLocked(
  directory: string,
  { lock, ...options }: ScanFolderOptions & { readonly lock: string },
  hooks: PinHooks = {},
): Promise<LockedFolder> {
  const place = await findLockPlace(directory, lock);
  const bytes = readLockBytes(place.lock);
  if (bytes === undefined) {
    const message = `The lock \`${lock}\` does not exist: create it with \`holdfast lock\`.`;
    throw new HoldfastError('lock.invalid', message, { data: { reason: 'missing', lock } });
  }
  const copies = createPinnedCopies(place.root, hooks);
  const warm = startWarm(place, bytes, options);
  if (warm !== undefined) {
    const { tools, warnings, locked } = warm;
    return {
      tools: tools.map(({ scanned, pin }) => toReady(scanned, pin, { copies, place, options })),
      files: tools.map(({ scanned }) => scanned),
      diagnostics: warnings,
      locked,
    };
  }
  const { tools: locked } = parseLock(bytes, place.lock);
  const scanned = await readFolderTime(place.root);
  const { folder, current } = await scanLocked(place, { locked, options, copies, hooks });
  // A missing tool has no file to check.
  const isAsLocked = folder.diagnostics.every(
    ({ severity, code }) => severity === 'warning' && code !== 'lock.changed',
  );
  if (scanned !== undefined && isAsLocked) {
    const found = { tools: current.values(), warnings: folder.diagnostics, scanned };
    const registered = await toRegistered(found, place, options);
    if (registered !== undefined)
      await writeRegisteredFolder(place.root, { prefix: place.prefix, lock: bytes, folder: registered });
  }
  return folder;
}

interface Scanning {
  readonly locked: LockedTools;
  readonly options: ScanFolderOptions;
  readonly copies: PinnedCopies;
  readonly hooks: PinHooks;
}

async function scanLocked(
  place: LockPlace,
  { locked, options, copies, hooks }: Scanning,
): Promise<{ readonly folder: LockedFolder; readonly current: FolderPins['tools'] }> {
  const { tools: current, files, diagnostics: found } = await readFolderPins(place, options, hooks);
  const diagnostics = [...found];
  const tools: ReadyTool[] = [];
  const refused = new Set<string>();
  for (const [name, tool] of current) {
    const problem = findProblem(name, tool, locked.get(name)) ?? (await keepCopy(tool, copies));
    if (problem === undefined) tools.push(toReady(tool.scanned, tool.tool, { copies, place, options }));
    else {
      refused.add(tool.scanned.file);
      diagnostics.push(problem);
    }
  }
  for (const [name, { entry }] of locked) {
    if (current.has(name) || !isIn(entry, place.prefix, options)) continue;
    const file = entry.slice(place.prefix.length);
    if (!files.some((one) => one.file === file)) diagnostics.push(describeGone(name, file));
  }
  const folder = {
    tools,
    files: files.map((one): ScannedFile => (refused.has(one.file) ? { type: 'refused', file: one.file } : one)),
    diagnostics: diagnostics.sort(compareDiagnostics),
    locked,
  };
  return { folder, current };
}

function findProblem(
  name: string,
  { scanned, tool }: CurrentTool,
  locked: LockedTool | undefined,
): Diagnostic | undefined {
  const hint = `Review it with \`holdfast lock --check --accept ${name}\`; run that without \`--check\` to lock it.`;
  if (locked === undefined) {
    const finding = { code: 'lock.changed', reason: 'unpinned', message: `\`${name}\` is not in the lock.`, hint };
    return toDiagnostic(finding, { file: scanned.file });
  }
  const changes = findChanges(locked, tool);
  if (changes.length === 0) return undefined;
  const message = `\`${name}\` differs from the lock: ${describeChanges(changes)}.`;
  return toDiagnostic({ code: 'lock.changed', message, hint }, { file: scanned.file });
}

function describeGone(name: string, file: string): Diagnostic {
  const message = `\`${name}\` is locked, but no file of the folder contains it.`;
  const hint = `Restore the file, or remove it from the lock with \`holdfast lock --accept ${name}\`.`;
  return toDiagnostic({ severity: 'warning', code: 'lock.changed', reason: 'gone', message, hint }, { file });
}

async function keepCopy({ scanned, closure }: CurrentTool, copies: PinnedCopies): Promise<Diagnostic | undefined> {
  try {
    await copies.keep(closure);
    return undefined;
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    const hint = 'Make the folder of the lock writable, or load its tools once in a writable copy of the project.';
    return toDiagnostic(
      { code: thrown.code, ...toReason(thrown), message: describeThrown(thrown), hint },
      { file: scanned.file },
    );
  }
}

function toReady(
  { file, path, metadata }: ToolFile,
  pin: LockedTool,
  {
    copies,
    place: { root, folder },
    options: { languages },
  }: { readonly copies: PinnedCopies; readonly place: LockPlace; readonly options: ScanFolderOptions },
): ReadyTool {
  const tool = toCopiedTool({ file, metadata }, pin, copies);

  async function isWhole(): Promise<boolean> {
    // A warm start does not check this.
    if (!hasOwnDigest(pin) || !(await copies.isWhole(pin))) return false;
    await copies.noteUse(pin.digest);
    return true;
  }

  async function makeWhole(): Promise<void> {
    if (await isWhole()) return;
    await using reader = createClosureReader({ root, folder, languages });
    const reading = await reader.read(path);
    if (reading.type === 'read' && reading.closure.digest === pin.digest) {
      await copies.replace(reading.closure);
      if (await isWhole()) return;
    }
    const message = `The pinned copy of the tool file \`${file}\` is damaged, and the file differs from the verified one: load the tools again.`;
    throw new HoldfastError('tool.file.changed', message, { data: { file } });
  }

  return {
    tool,
    pin,
    fileDigest: pin.files.get(pin.entry) ?? '',
    prepare: makeWhole,
    findDigest: () => digestPin(pin),
  };
}
