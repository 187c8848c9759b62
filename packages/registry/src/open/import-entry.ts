import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HoldfastError, type Pack, type Plugin } from '@holdfast/core';
import { errorsOf, isPack, isPlugin, nearestNames, type ReasonedError, toReason } from '@holdfast/core/internal';
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
  /** Displayed paths are relative to this folder. */
  readonly directory: string;
  /** Called before any of its code runs. A throw prevents the import. */
  readonly beforeImport?: ((source: PackageSource) => void | Promise<void>) | undefined;
}

/**
 * Imports the plugin with this name. Its code runs with all rights of this process.
 *
 * @throws HoldfastError `plugin.package.failed`, `plugin.failed`.
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

/** The absolute paths that an import of `name` reads, existing or not: its file, or the folder of its package. */
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
  /** The entry in the configuration. */
  readonly shown: string;
}

async function findInPackage(name: string, importing: Importing<unknown>): Promise<FoundFile> {
  const folder = findPackage(name, importing.from);
  if (folder === undefined) throw await missingPackage(name, importing);
  const reading = await readManifest(folder);
  if (reading.type === 'missing') throw await missingPackage(name, importing);
  if (reading.type === 'refused')
    throw unusable('invalid', `Cannot use the \`package.json\` of \`${name}\`: ${reading.why}.`);
  const { version, coreRange } = reading.manifest;
  if (coreRange !== undefined) {
    const problem = findVersionProblem(
      `The package \`${name}\`${version === undefined ? '' : ` ${version}`}`,
      // The value in a pnpm workspace before publishing.
      coreRange.replace(/^(?:workspace:[~^]?|catalog:.*)$/, '*').replace(/^workspace:/, ''),
    );
    if (problem !== undefined) throw new HoldfastError(problem.code, problem.message, { data: toReason(problem) });
  }
  const file = findEntryFile(reading.manifest);
  if (file === undefined) {
    const message = `The package \`${name}\` has no entry: its \`exports\` or \`main\` must name one of its files.`;
    throw unusable('invalid', message);
  }
  return { file, shown: name, package: name, ...(version === undefined ? {} : { version }) };
}

/** A name close to an installed one is probably a typo, and the npm package of that name may be malicious. */
async function missingPackage(name: string, { from, kind }: Importing<unknown>): Promise<HoldfastError> {
  const installed = (await findInstalledPlugins(from)).filter((one) => one.kind === kind).map((one) => one.name);
  const [nearest] = nearestNames(name, installed);
  const shown = installed.slice(0, 10).map((one) => `\`${one}\``);
  const others = shown.length === 0 ? '' : ` Installed ${kind}s: ${shown.join(', ')}.`;
  const hint =
    nearest === undefined
      ? `if the name is correct, run \`npm install ${name}\`.${others}`
      : `did you mean \`${nearest}\`? If not, run \`npm install ${name}\`.`;
  return unusable('missing', `The package \`${name}\` is not installed: ${hint}`);
}

async function digestOf(file: string, shown: string): Promise<string> {
  const reading = await readSmallFile(file, { maxBytes: maxEntryBytes });
  if (reading.type === 'read') return createHash('sha256').update(reading.bytes).digest('hex');
  if (reading.type === 'missing') throw unusable('missing', `The file of \`${shown}\` does not exist.`);
  throw unusable('invalid', `Cannot use the file of \`${shown}\`: ${reading.why}.`);
}

const maxEntryBytes = 67_108_864;

type Exports = Readonly<Record<string, unknown>>;

// More than enough for a module that only defines plugins, even on a slow machine.
const maxImportMs = 30_000;

async function importFile(file: string, { shown, directory }: Named): Promise<Exports> {
  // Without a timeout, a module with an endless top-level await would block everything or end the process silently.
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`its code did not finish within ${maxImportMs / 1_000} s`));
  }, maxImportMs);
  try {
    const imported: unknown = await Promise.race([importModule(file, directory), late.promise]);
    return toExports(imported as Exports);
  } catch (cause) {
    throw failure(
      'plugin.package.failed',
      `Cannot import \`${shown}\`${describeFailedImport(cause, directory)}`,
      cause,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Unwraps ES modules compiled to CommonJS, whose exports, with their own `default`, are in `default`. */
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
    // `module.exports` as a whole is also in `default`.
    const value = key === 'module.exports' ? undefined : exports[key];
    if (isOf(isKind, value)) found.set(key, value);
  }
  const names = [...found.keys()].map((key) => `\`${shown}#${key}\``).join(', ');
  if (exportName !== undefined) {
    const named = found.get(exportName);
    if (named !== undefined) return named;
    const there = names === '' ? `it exports no ${kind}s` : `exports: ${names}`;
    throw unusable('export.missing', `\`${shown}\` has no ${kind} \`${exportName}\`; ${there}.`);
  }
  // One value may be exported under several names.
  const different = new Set(found.values());
  const [only] = different;
  const chosen = found.get('default') ?? (different.size === 1 ? only : undefined);
  if (chosen !== undefined) return chosen;
  if (different.size > 1) {
    throw unusable('export.unclear', `\`${shown}\` exports several ${kind}s: choose one of ${names}.`);
  }
  const other = kind === 'plugin' ? 'pack' : 'plugin';
  const isOther = (value: unknown): value is unknown => (kind === 'plugin' ? isPack(value) : isPlugin(value));
  const hint = Object.values(exports).some((value) => isOf(isOther, value))
    ? `it exports a ${other}: list it under \`${other}s\``
    : `create one with \`define${kind === 'plugin' ? 'Plugin' : 'Pack'}\``;
  throw unusable('empty', `\`${shown}\` does not export a ${kind}; ${hint}.`);
}

function isOf<Thing>(isKind: (value: unknown) => value is Thing, value: unknown): value is Thing {
  try {
    return isKind(value);
  } catch {
    // A hostile value that throws when inspected.
    return false;
  }
}

/** Reasons of `plugin.package.failed`. */
type UnusableReason = 'empty' | 'export.missing' | 'export.unclear' | 'invalid' | 'missing';

const unusable: ReasonedError<UnusableReason> = errorsOf('plugin.package.failed');

function failure(code: string, message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(code, message, { cause });
}
