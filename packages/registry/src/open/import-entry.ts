import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HoldfastError, isPack, isPlugin, nearestNames, type Pack, type Plugin } from '@holdfast/core';
import { findVersionProblem } from '../resolve/holdfast-version.ts';
import type { EntryName } from '../resolve/names.ts';
import type { PackageSource } from '../resolve/types.ts';
import { describeFailedImport, importModule } from './import-module.ts';
import { findEntryFile, findInstalledPlugins, findPackage, readManifest } from './package-manifest.ts';
import { readSmallFile, showFile } from './small-file.ts';

export type ImportName = Exclude<EntryName, { readonly type: 'offered' }>;

export interface ImportedEntry<Thing> {
  readonly thing: Thing;
  readonly source: PackageSource;
}

export interface ImportOptions {
  /** The folder of the file that names it. */
  readonly from: string;
  /** Where shown paths begin. */
  readonly directory: string;
  /** Asked before any of its code runs. Throwing keeps it from being run. */
  readonly beforeImport?: ((source: PackageSource) => void | Promise<void>) | undefined;
}

/**
 * Imports the plugin that a name stands for: its code runs, with all rights of this process.
 *
 * @throws HoldfastError `plugin.package.missing`, `plugin.package.invalid`, `plugin.package.failed`, `plugin.package.empty`,
 * `plugin.export.missing`, `plugin.export.unclear`, `plugin.version.invalid`, `plugin.version.mismatch`.
 */
export function importPlugin(name: ImportName, options: ImportOptions): Promise<ImportedEntry<Plugin>> {
  return importEntry(name, { kind: 'plugin', isKind: isPlugin, ...options });
}

/** @throws HoldfastError as `importPlugin`. */
export function importPack(name: ImportName, options: ImportOptions): Promise<ImportedEntry<Pack>> {
  return importEntry(name, { kind: 'pack', isKind: isPack, ...options });
}

interface Importing<Thing> extends ImportOptions {
  readonly kind: 'plugin' | 'pack';
  readonly isKind: (value: unknown) => value is Thing;
}

async function importEntry<Thing>(name: ImportName, importing: Importing<Thing>): Promise<ImportedEntry<Thing>> {
  const { file, shown, ...source } =
    name.type === 'package'
      ? await findInPackage(name.name, importing)
      : { file: resolve(importing.from, name.path), shown: name.path };
  const known = { ...source, file: showFile(file, importing.directory), digest: await digestOf(file, shown) };
  await importing.beforeImport?.(known);
  const thing = pickExport(await importFile(file, { shown, directory: importing.directory }), {
    shown,
    exportName: name.exportName,
    ...importing,
  });
  return { thing, source: known };
}

/** Absolute paths at which an import of `name` would find something, whether it is there now or not: its file, or the folder of its package. */
export async function placesOf(name: ImportName, { from }: Pick<ImportOptions, 'from'>): Promise<readonly string[]> {
  if (name.type === 'path') return [resolve(from, name.path)];
  const folder = findPackage(name.name, from) ?? join(from, 'node_modules', name.name);
  const behind = await realpath(folder).catch(() => folder);
  return behind === folder ? [folder] : [folder, behind];
}

interface Named extends Pick<ImportOptions, 'directory'> {
  readonly shown: string;
}

interface FoundFile extends Pick<PackageSource, 'package' | 'version'> {
  readonly file: string;
  /** As the configuration names it. */
  readonly shown: string;
}

async function findInPackage(name: string, importing: Importing<unknown>): Promise<FoundFile> {
  const folder = findPackage(name, importing.from);
  if (folder === undefined) throw await missingPackage(name, importing);
  const reading = await readManifest(folder);
  if (reading.type === 'missing') throw await missingPackage(name, importing);
  if (reading.type === 'refused')
    throw failure('plugin.package.invalid', `The \`package.json\` of \`${name}\` cannot be used: ${reading.why}.`);
  const { version, coreRange } = reading.manifest;
  if (coreRange !== undefined) {
    const problem = findVersionProblem(
      `The package \`${name}\`${version === undefined ? '' : ` ${version}`}`,
      // What a workspace of pnpm writes while it is not published.
      coreRange.replace(/^(?:workspace:[~^]?|catalog:.*)$/, '*').replace(/^workspace:/, ''),
    );
    if (problem !== undefined) throw failure(problem.code, problem.message);
  }
  const file = findEntryFile(reading.manifest);
  if (file === undefined) {
    const message = `The package \`${name}\` has nothing to import: its \`exports\` or \`main\` name no file of it.`;
    throw failure('plugin.package.invalid', message);
  }
  return { file, shown: name, package: name, ...(version === undefined ? {} : { version }) };
}

/** A name that is nearly another one is more likely misspelt than not installed, and what it names may be anybody's. */
async function missingPackage(name: string, { from, kind }: Importing<unknown>): Promise<HoldfastError> {
  const installed = (await findInstalledPlugins(from)).filter((one) => one.kind === kind).map((one) => one.name);
  const [nearest] = nearestNames(name, installed);
  const shown = installed.slice(0, 10).map((one) => `\`${one}\``);
  const others = shown.length === 0 ? '' : ` Here are the ${kind}s ${shown.join(', ')}.`;
  const hint =
    nearest === undefined
      ? `if that is its name, \`npm install ${name}\` installs it.${others}`
      : `did you mean \`${nearest}\`? If not, \`npm install ${name}\` installs it.`;
  return failure('plugin.package.missing', `The package \`${name}\` is not installed: ${hint}`);
}

async function digestOf(file: string, shown: string): Promise<string> {
  const reading = await readSmallFile(file, { maxBytes: maxEntryBytes });
  if (reading.type === 'read') return createHash('sha256').update(reading.bytes).digest('hex');
  if (reading.type === 'missing')
    throw failure('plugin.package.missing', `\`${shown}\` names a file that is not there.`);
  throw failure('plugin.package.invalid', `The file of \`${shown}\` cannot be used: ${reading.why}.`);
}

const maxEntryBytes = 67_108_864;

type Exports = Readonly<Record<string, unknown>>;

// Longer than a program takes that only makes plugins, on the slowest machine.
const maxImportMs = 30_000;

async function importFile(file: string, { shown, directory }: Named): Promise<Exports> {
  // A module that waits for ever, at its top level, would otherwise keep everything else waiting, or end the process without a word.
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`its code was not through after ${maxImportMs / 1_000} s`));
  }, maxImportMs);
  try {
    const imported: unknown = await Promise.race([importModule(file, directory), late.promise]);
    return toExports(imported as Exports);
  } catch (cause) {
    throw failure(
      'plugin.package.failed',
      `\`${shown}\` cannot be imported${describeFailedImport(cause, directory)}`,
      cause,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** What a compiler has made CommonJS of stands in its `default`, with a `default` of its own. */
function toExports(exports: Exports): Exports {
  const { default: whole } = exports;
  const isCompiled = typeof whole === 'object' && whole !== null && Object.hasOwn(whole, '__esModule');
  return isCompiled ? (whole as Exports) : exports;
}

interface Picking<Thing> extends Importing<Thing> {
  readonly shown: string;
  readonly exportName: string | undefined;
}

function pickExport<Thing>(exports: Exports, { shown, exportName, kind, isKind }: Picking<Thing>): Thing {
  const found = new Map<string, Thing>();
  for (const key of Object.keys(exports)) {
    // What CommonJS exports as a whole is its `default`, too.
    const value = key === 'module.exports' ? undefined : exports[key];
    if (isOf(isKind, value)) found.set(key, value);
  }
  const names = [...found.keys()].map((key) => `\`${shown}#${key}\``).join(', ');
  if (exportName !== undefined) {
    const named = found.get(exportName);
    if (named !== undefined) return named;
    const there = names === '' ? `it exports no ${kind}` : `there is ${names}`;
    throw failure('plugin.export.missing', `\`${shown}\` exports no ${kind} \`${exportName}\`: ${there}.`);
  }
  // One thing may have several names.
  const different = new Set(found.values());
  const [only] = different;
  const chosen = found.get('default') ?? (different.size === 1 ? only : undefined);
  if (chosen !== undefined) return chosen;
  if (different.size > 1) {
    throw failure('plugin.export.unclear', `\`${shown}\` exports several of the kind ${kind}: name one of ${names}.`);
  }
  const other = kind === 'plugin' ? 'pack' : 'plugin';
  const isOther = (value: unknown): value is unknown => (kind === 'plugin' ? isPack(value) : isPlugin(value));
  const hint = Object.values(exports).some((value) => isOf(isOther, value))
    ? `it exports a ${other}, which belongs under \`${other}s\``
    : `a ${kind} is what \`define${kind === 'plugin' ? 'Plugin' : 'Pack'}\` makes`;
  throw failure('plugin.package.empty', `\`${shown}\` exports no ${kind}: ${hint}.`);
}

function isOf<Thing>(isKind: (value: unknown) => value is Thing, value: unknown): value is Thing {
  try {
    return isKind(value);
  } catch {
    // What cannot even be asked is none.
    return false;
  }
}

function failure(code: string, message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(code, message, { cause });
}
