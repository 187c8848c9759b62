import { hash } from 'node:crypto';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readBounded } from '../files/read-bounded.ts';
import { maxCommandFileBytes, toCommandPath } from '../language/command-files.ts';
import { readCommand } from '../language/command-metadata.ts';
import { listPythonModules } from '../language/python-imports.ts';
import { createPythonReader, type PythonReader } from '../language/python-reader.ts';
import { kindOf, listToolFiles } from '../scan/tool-files.ts';
import { createPackageFinder, listOwnEntries, type PackageFinder, packageOf } from './packages.ts';
import { createTsxFinder } from './tsx.ts';

/** The files and packages that code consists of. */
export interface CodeFiles {
  /** SHA-256 in hexadecimal by absolute path without symlinks; empty for what is not a regular file that can be read. */
  readonly files: ReadonlyMap<string, string>;
  /** Version by name; several versions in one text. */
  readonly packages: ReadonlyMap<string, string>;
}

/**
 * Lists the code behind `specifiers`, as a module in `folder` would import them, with everything that it imports by a path. The path of a
 * folder stands for its tool files, those in subfolders included; a package is listed by name and version, the one that `folder` is itself by
 * its files. What tsx would find by a name that Node.js does not take is listed, too. Nothing runs, and what cannot be found or followed is
 * left out: unlike a lock, the list promises no completeness for computed imports.
 */
export async function readCodeFiles(specifiers: readonly string[], folder: string): Promise<CodeFiles> {
  await using python = createPythonReader();
  const files = new Map<string, string>();
  const packages = new Map<string, Set<string>>();
  const finders = new Map<string, PackageFinder>();
  const tsx = createTsxFinder(folder);
  const waiting: Reference[] = [];
  const add = (specifier: string, importer: string): void => {
    const target = resolveSpecifier(specifier, importer);
    const found = [...(target.path === undefined ? [] : [target.path]), ...tsx.find(specifier, importer)];
    for (const path of found) waiting.push({ path, base: undefined });
    if (target.name === undefined) return;
    // A package that calls itself by its name is no installed one: its files are of this folder.
    for (const path of listOwnEntries(target.name, importer)) waiting.push({ path, base: undefined });
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
      const { root, files: names } = await listToolFiles(path, { subfolders: true });
      for (const name of names) waiting.push({ path: join(root, name), base: undefined });
    } else add(specifier, join(folder, 'importer.mjs'));
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = toRealPath(next.path);
    if (path === undefined || files.has(path)) continue;
    const reading = readBounded(path, maxCommandFileBytes);
    if (reading.type === 'missing') continue;
    files.set(path, reading.type === 'read' ? hash('sha256', reading.bytes) : '');
    if (reading.type !== 'read') continue;
    const source = new TextDecoder().decode(reading.bytes);
    switch (kindOf(path) ?? (/\.(?:[cm][jt]s|[jt]sx)$/.test(path) ? 'module' : undefined)) {
      case 'module':
        for (const specifier of listSpecifiers(source)) add(specifier, path);
        break;
      case 'command':
        for (const word of readCommand(source)?.files ?? [])
          waiting.push({ path: toCommandPath(path, word), base: undefined });
        break;
      case 'python':
        waiting.push(...(await listPythonFiles(source, { path, base: next.base ?? dirname(path) }, python)));
        break;
      case undefined:
        break;
    }
  }
  const versions = [...packages].map(([name, found]) => [name, [...found].sort().join(', ')] as const);
  return { files: new Map([...files].sort()), packages: new Map(versions.sort()) };
}

interface Reference {
  readonly path: string;
  /** Of Python: the folder in which it finds modules. Absent: that of the file. */
  readonly base: string | undefined;
}

interface Target {
  readonly path?: string;
  /** Of a package. */
  readonly name?: string;
}

function resolveSpecifier(specifier: string, importer: string): Target {
  if (isBuiltin(specifier)) return {};
  const name = packageOf(specifier);
  if (name !== undefined) return { name };
  const path = specifier.startsWith('#') ? undefined : toFilePath(specifier, importer);
  if (path !== undefined && isFile(path)) return { path };
  try {
    // A `require` without an extension or of a folder, or one of the `imports` of a `package.json`.
    return { path: createRequire(importer).resolve(specifier) };
  } catch {
    // Importing it fails just the same.
    return {};
  }
}

function toFilePath(specifier: string, importer: string): string | undefined {
  try {
    const url = new URL(specifier, pathToFileURL(importer));
    return url.protocol === 'file:' ? fileURLToPath(url) : undefined;
  } catch {
    // Node.js refuses it, too.
    return undefined;
  }
}

// Not by the parser: anything that looks like an import may be one, also in a file that cannot be parsed here and still runs.
// Bounded, so that no file makes it search for long.
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

async function listPythonFiles(
  source: string,
  { path, base }: { readonly path: string; readonly base: string },
  python: PythonReader,
): Promise<readonly Reference[]> {
  const outline = await python.read(source);
  if (outline.type !== 'outlined') return [];
  const own = relative(base, path).split(sep).join('/');
  return outline.imports
    .flatMap((one) => listPythonModules(one, own))
    .map((file) => ({ path: join(base, file), base }));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

function toRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, or a circle of links: nothing can be imported from there.
    return undefined;
  }
}
