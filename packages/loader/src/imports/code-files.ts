import { hash } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readBounded } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import { kindOf, openReaders, type ToolFileKind } from '../language/find.ts';
import type { Language } from '../language/types.ts';
import { listToolFiles } from '../scan/tool-files.ts';
import { createPackageFinder, listOwnEntries, type PackageFinder, packageOf } from './packages.ts';
import { maxDataBytes } from './part.ts';
import { createTsxFinder } from './tsx.ts';

/** The files and packages of some code. */
export interface CodeFiles {
  /** SHA-256 in hexadecimal by absolute path without symlinks; empty for anything but a readable regular file. */
  readonly files: ReadonlyMap<string, string>;
  /** Version by name; several versions joined in one string. */
  readonly packages: ReadonlyMap<string, string>;
}

/**
 * Lists the code behind `specifiers`, as imported by a module in `folder`, with everything that it imports by path. A
 * folder stands for its tool files, including subfolders; packages are listed by name and version, except the package
 * that contains `folder`, by its files. Includes files that only tsx would resolve. Nothing runs. Unlike a lock, the
 * list is best-effort: missing files and computed imports are left out.
 */
export async function readCodeFiles(
  specifiers: readonly string[],
  folder: string,
  { languages }: { readonly languages?: readonly Language[] } = {},
): Promise<CodeFiles> {
  await using readers = openReaders();
  const files = new Map<string, string>();
  const packages = new Map<string, Set<string>>();
  const finders = new Map<string, PackageFinder>();
  const tsx = createTsxFinder(folder);
  const waiting: Reference[] = [];
  const add = (specifier: string, importer: string): void => {
    const target = resolveSpecifier(specifier, importer);
    const found = [...(target.path === undefined ? [] : [target.path]), ...tsx.find(specifier, importer)];
    for (const path of found) waiting.push({ path });
    if (target.name === undefined) return;
    // A package that imports itself by name: its files are in this folder.
    for (const path of listOwnEntries(target.name, importer)) waiting.push({ path });
    const place = dirname(importer);
    const finder = finders.get(place) ?? createPackageFinder(place);
    finders.set(place, finder);
    const installed = finder.find(target.name, place);
    if (installed.type !== 'found') return;
    packages.set(target.name, (packages.get(target.name) ?? new Set()).add(installed.version));
  };
  for (const specifier of specifiers) {
    const path = resolve(folder, specifier);
    if (/^\.{0,2}\//.test(specifier) && isFolder(path)) {
      const { root, files: names } = await listToolFiles(path, { subfolders: true, languages });
      for (const name of names) waiting.push({ path: join(root, name) });
    } else add(specifier, join(folder, 'importer.mjs'));
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = findRealPath(next.path);
    if (path === undefined || files.has(path)) continue;
    const reading = readBounded(path, maxDataBytes);
    if (reading.type === 'missing') continue;
    files.set(path, reading.type === 'read' ? hash('sha256', reading.bytes) : '');
    if (reading.type !== 'read') continue;
    const source = new TextDecoder().decode(reading.bytes);
    const kind = next.kind ?? findKind(path, languages);
    if (kind === 'module') for (const specifier of listSpecifiers(source)) add(specifier, path);
    else if (kind !== undefined) {
      const base = next.base ?? dirname(path);
      const part = await readers.of(kind).readPart({ path, source, base });
      if (part.type === 'refused') continue;
      // Data of one tool may be code for another.
      for (const need of part.needs)
        waiting.push(need.kind === 'data' ? { path: need.path } : { path: need.path, kind, base });
    }
  }
  const versions = [...packages].map(([name, found]) => [name, [...found].sort().join(', ')] as const);
  return { files: new Map([...files].sort()), packages: new Map(versions.sort()) };
}

interface Reference {
  readonly path: string;
  /** Set if known before the file name is examined. */
  readonly kind?: Language;
  /** For a language: the folder of the tool file. */
  readonly base?: string;
}

interface Target {
  readonly path?: string;
  /** For a package. */
  readonly name?: string;
}

function resolveSpecifier(specifier: string, importer: string): Target {
  if (isBuiltin(specifier)) return {};
  const name = packageOf(specifier);
  if (name !== undefined) return { name };
  const path = specifier.startsWith('#') ? undefined : toFilePath(specifier, importer);
  if (path !== undefined && isFile(path)) return { path };
  try {
    // A `require` without extension or of a folder, or an entry of `imports` in a `package.json`.
    return { path: createRequire(importer).resolve(specifier) };
  } catch {
    // An import of it fails too.
    return {};
  }
}

function toFilePath(specifier: string, importer: string): string | undefined {
  try {
    const url = new URL(specifier, pathToFileURL(importer));
    return url.protocol === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    // Node.js rejects it too.
    return undefined;
  }
}

// A pattern instead of the parser: finds anything that looks like an import, even in files that do not parse here but
// still run. Bounded, so that no file can make it slow.
const imports =
  /\b(?:from|import|require)\b(?:\s{1,1000}|\/\*[\s\S]{0,2000}?\*\/|\/\/[^\n]{0,2000}\n|\(){0,20}(?<quote>['"`])(?<text>(?:\\.|(?!\k<quote>)[^\\\n]){0,4000})\k<quote>/g;

function listSpecifiers(source: string): readonly string[] {
  return [...source.matchAll(imports)].map(({ groups }) => readEscapes(groups?.['text'] ?? ''));
}

function readEscapes(text: string): string {
  return text.replaceAll(
    /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gi,
    (_, braced, four, two, other) => {
      const code = Number.parseInt(braced ?? four ?? two ?? '', 16);
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : (other ?? '');
    },
  );
}

function findKind(path: string, languages: readonly Language[] | undefined): ToolFileKind | undefined {
  return kindOf(path, languages) ?? (/\.(?:[cm][jt]s|[jt]sx)$/.test(path) ? 'module' : undefined);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}
