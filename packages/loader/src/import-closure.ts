import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { type Diagnostic, type Finding, toDiagnostic } from './diagnostic.ts';
import { createPackageFinder, type PackageFinder } from './found-packages.ts';
import { hashJson } from './hash-json.ts';
import { isCommonJs, listImports } from './module-imports.ts';
import { parseModule } from './parse-module.ts';
import { isPlainPath } from './plain-path.ts';
import { readBounded, type Stamp } from './read-bounded.ts';
import { commonJs, resolveImport } from './resolve-import.ts';

export interface ClosureFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
}

/** A file and everything that it imports by path, read once. */
export interface Closure {
  /** Path of the file itself. */
  readonly entry: string;
  /** Of `entry`, and of the paths and digests of `files`. */
  readonly digest: string;
  /** In path order. */
  readonly files: readonly ClosureFile[];
  /** Name and version of what is imported by name, in name order. Node's own modules are left out. */
  readonly packages: ReadonlyMap<string, string>;
}

export type ClosureReading =
  | { readonly type: 'read'; readonly closure: Closure; readonly warnings: readonly Diagnostic[] }
  | { readonly type: 'refused'; readonly diagnostic: Diagnostic };

export interface ClosurePlace {
  /** No import leads out of it. Absolute, without symlinks. */
  readonly root: string;
  /** The tools folder; diagnostics name files relative to it. */
  readonly folder: string;
  /** Told before a file is read, with its path. */
  readonly onRead?: ((path: string) => void | Promise<void>) | undefined;
}

/** Reads closures. One file is read once, however many tools import it. */
export interface ClosureReader {
  /** @param path - absolute, without symlinks, in the root. */
  read(path: string): Promise<ClosureReading>;
}

const maxFileBytes = 8 * 1024 * 1024;
const maxClosureBytes = 32 * 1024 * 1024;
const maxClosureFiles = 300;

interface ReadModule {
  readonly type: 'read';
  readonly file: ClosureFile;
  /** Absolute paths. */
  readonly imports: readonly { readonly path: string; readonly offset: number }[];
  readonly packages: ReadonlyMap<string, string>;
  readonly source: string;
  readonly warning: Diagnostic | undefined;
}
type ModuleReading =
  | ReadModule
  | { readonly type: 'refused'; readonly finding: Finding; readonly offset: number; readonly source: string };

/**
 * Follows the imports of files without running them: relative ones into the file, named ones to a version. Refused are what
 * only running would tell, what leaves `root`, links, and what is no ES module or JSON: `tool.import.*`.
 */
export function createClosureReader({ root, folder, onRead }: ClosurePlace): ClosureReader {
  const packages = createPackageFinder(root);
  const modules = new Map<string, Promise<ModuleReading>>();
  const toName = (path: string): string => relative(root, path).split(sep).join('/');
  const toShown = (path: string): string => relative(folder, path).split(sep).join('/');

  function readOnce(path: string): Promise<ModuleReading> {
    let reading = modules.get(path);
    if (reading === undefined) {
      reading = readModule(path, { root, packages, onRead, name: toName(path), shown: toShown(path) });
      modules.set(path, reading);
    }
    return reading;
  }

  return {
    async read(entry) {
      const found = new Map<string, ReadModule>();
      const waiting: { readonly path: string; readonly from?: ReadModule; readonly offset: number }[] = [
        { path: entry, offset: 0 },
      ];
      let bytes = 0;
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (found.has(next.path)) continue;
        const reading = await readOnce(next.path);
        const refuse = (finding: Finding, path: string, source: string, offset: number): ClosureReading => ({
          type: 'refused',
          diagnostic: toDiagnostic(finding, { file: toShown(path), source, offset }),
        });
        if (reading.type === 'refused') {
          const { finding, offset, source } = reading;
          // What cannot be read at all has no place but the one that asks for it.
          if (source === '' && next.from !== undefined)
            return refuse(finding, join(root, next.from.file.path), next.from.source, next.offset);
          return refuse(finding, next.path, source, offset);
        }
        found.set(next.path, reading);
        bytes += reading.file.bytes.length;
        if (found.size > maxClosureFiles || bytes > maxClosureBytes) return refuse(tooLarge, entry, '', 0);
        waiting.push(...reading.imports.map((one) => ({ ...one, from: reading })));
      }
      const parts = [...found.values()];
      return {
        type: 'read',
        closure: toClosure(toName(entry), parts),
        warnings: parts.flatMap(({ warning }) => (warning === undefined ? [] : [warning])),
      };
    },
  };
}

/** The digest of a closure. */
export function digestClosure(entry: string, files: ReadonlyMap<string, string>): string {
  return hashJson([
    entry,
    [...files].sort(([left], [right]) => compareText(left, right)).map(([path, digest]) => [path, digest]),
  ]);
}

function toClosure(entry: string, modules: readonly ReadModule[]): Closure {
  const files = modules.map(({ file }) => file).sort((left, right) => compareText(left.path, right.path));
  return {
    entry,
    digest: digestClosure(entry, new Map(files.map(({ path, digest }) => [path, digest]))),
    files,
    packages: new Map(
      modules.flatMap((module) => [...module.packages]).sort(([left], [right]) => compareText(left, right)),
    ),
  };
}

interface ModulePlace {
  readonly root: string;
  readonly packages: PackageFinder;
  readonly onRead: ClosurePlace['onRead'];
  readonly name: string;
  readonly shown: string;
}

async function readModule(path: string, { root, packages, onRead, name, shown }: ModulePlace): Promise<ModuleReading> {
  const refuse = (finding: Finding, offset = 0, source = ''): ModuleReading => ({
    type: 'refused',
    finding,
    offset,
    source,
  });
  if (!isPlainPath(name)) return refuse(oddName, 0, '');
  await onRead?.(path);
  const place = await findPlace(path);
  if (place !== path) {
    return refuse(
      place === undefined
        ? {
            code: 'tool.import.missing',
            message: `There is no file \`${name}\`.`,
            hint: 'An import names a file with its extension.',
          }
        : {
            code: 'tool.import.symlink',
            message: `\`${name}\` is, or lies behind, a symbolic link.`,
            hint: 'Import the file where it really is.',
          },
    );
  }
  const reading = await readBounded(path, maxFileBytes);
  if (reading.type !== 'read') {
    const why = reading.type === 'missing' ? 'it is not there any more' : reading.why;
    return refuse({
      code: 'tool.import.unreadable',
      message: `\`${name}\` cannot be pinned: ${why}.`,
      hint: 'An import is a regular file that may be read.',
    });
  }
  const { bytes, stamp } = reading;
  const file: ClosureFile = { path: name, digest: createHash('sha256').update(bytes).digest('hex'), bytes, stamp };
  if (extname(path) === '.json')
    return { type: 'read', file, imports: [], packages: new Map(), source: '', warning: undefined };

  const source = decode(bytes);
  if (source === undefined)
    return refuse({
      code: 'tool.import.unreadable',
      message: `\`${name}\` is not UTF-8 text.`,
      hint: 'Save the file as UTF-8 text.',
    });
  const parsing = await parseModule(source, path);
  if (parsing.type === 'refused') return refuse(parsing.finding, parsing.offset, source);
  if (isCommonJs(parsing.module, source)) return refuse(commonJs, 0, source);
  const imports: { path: string; offset: number }[] = [];
  const found = new Map<string, string>();
  for (const { specifier, offset } of listImports(parsing.module, source)) {
    const target = await resolveImport(specifier, { path, root, packages });
    if (target.type === 'refused') return refuse(target.finding, offset, source);
    if (target.type === 'file') imports.push({ path: target.path, offset });
    if (target.type === 'package') found.set(target.name, target.version);
  }
  const [meta] = parsing.module.importMetas;
  const warning =
    meta === undefined ? undefined : toDiagnostic(importMeta, { file: shown, source, offset: meta.start });
  return { type: 'read', file, imports, packages: found, source, warning };
}

const oddName: Finding = {
  code: 'tool.import.unsupported',
  message: 'The path of the file holds a character that a lock does not take.',
  hint: 'Name the file without backslashes, colons and what cannot be seen.',
};

const tooLarge: Finding = {
  code: 'tool.import.too_large',
  message: `The file imports more than ${maxClosureFiles} files or ${maxClosureBytes} bytes by path.`,
  hint: 'Make a package of what it imports.',
};

const importMeta: Finding = {
  severity: 'warning',
  code: 'tool.import.meta',
  message: '`import.meta` tells where the pinned copy lies, which holds nothing but what is imported.',
  hint: 'Import data as JSON, or read it through `context.filesystem`.',
};

async function findPlace(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // Missing, a circle of links, or not to be looked into.
    return undefined;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // The decoder says no more than this.
    return undefined;
  }
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
