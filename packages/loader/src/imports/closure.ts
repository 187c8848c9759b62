import { hash } from 'node:crypto';
import { join, relative, sep } from 'node:path';
import { kindOf, openReaders } from '../language/find.ts';
import type { Language } from '../language/types.ts';
import { type Diagnostic, type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { createPackageFinder } from './packages.ts';
import {
  type ClosureFile,
  type ClosurePart,
  maxDataBytes,
  type PartReading,
  type PartReference,
  readPart,
} from './part.ts';

/** A file and everything that it imports by path, or names in its command, read once. */
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
  /** Beside JavaScript and TypeScript. */
  readonly languages?: readonly Language[] | undefined;
  /** Told before a file is read, with its path. */
  readonly onRead?: ((path: string) => void | Promise<void>) | undefined;
}

/** Reads closures. One file is read once, however many tools import it. To be disposed of at the end. */
export interface ClosureReader extends AsyncDisposable {
  /** @param path - absolute, without symlinks, in the root. */
  read(path: string): Promise<ClosureReading>;
}

// Of data one file may have as much as all of them.
const maxBytes = { code: 32 * 1024 * 1024, data: maxDataBytes } as const;
const maxClosureFiles = 300;

/**
 * Follows the imports of files without running them: relative ones into the file, named ones to a version. Refused are what
 * only running would tell, what leaves `root`, links, and what is no ES module or JSON: `tool.import.*`. Of a command, the files are read
 * that it names.
 */
export function createClosureReader({ root, folder, languages, onRead }: ClosurePlace): ClosureReader {
  const packages = createPackageFinder(root);
  const readers = openReaders();
  const parts = new Map<string, Promise<PartReading>>();
  const toName = (path: string): string => relative(root, path).split(sep).join('/');
  const toShown = (path: string): string => relative(folder, path).split(sep).join('/');

  function readOnce(part: PartReference): Promise<PartReading> {
    const { path, kind, base = '' } = part;
    const key = JSON.stringify([typeof kind === 'string' ? kind : kind.name, base, path]);
    let reading = parts.get(key);
    if (reading === undefined) {
      reading = readPart(part, { root, packages, readers, onRead, name: toName(path), shown: toShown(path) });
      parts.set(key, reading);
    }
    return reading;
  }

  return {
    async read(entry) {
      const found = new Map<string, ClosurePart>();
      const kind = kindOf(entry, languages) ?? 'module';
      const waiting: (PartReference & { readonly from?: ClosurePart })[] = [{ path: entry, kind, offset: 0 }];
      const bytes = { code: 0, data: 0 };
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (found.has(next.path)) continue;
        const reading = await readOnce(next);
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
        const counted = next.kind === 'data' ? 'data' : 'code';
        bytes[counted] += reading.file.bytes.length;
        const isTooLarge = found.size > maxClosureFiles || bytes[counted] > maxBytes[counted];
        if (isTooLarge) return refuse(tooLarge(maxBytes[counted]), entry, '', 0);
        waiting.push(...reading.imports.map((one) => ({ ...one, from: reading })));
      }
      const read = [...found.values()];
      return {
        type: 'read',
        closure: toClosure(toName(entry), read),
        warnings: read.flatMap(({ warning }) => (warning === undefined ? [] : [warning])),
      };
    },
    [Symbol.asyncDispose]: () => readers[Symbol.asyncDispose](),
  };
}

/** The digest of a closure. */
export function digestClosure(entry: string, files: ReadonlyMap<string, string>): string {
  // Of lists and texts there is no other text: it is canonical.
  return hash('sha256', JSON.stringify([entry, [...files].sort(([left], [right]) => compareText(left, right))]));
}

function toClosure(entry: string, parts: readonly ClosurePart[]): Closure {
  const files = parts.map(({ file }) => file).sort((left, right) => compareText(left.path, right.path));
  return {
    entry,
    digest: digestClosure(entry, new Map(files.map(({ path, digest }) => [path, digest]))),
    files,
    packages: new Map(parts.flatMap((part) => [...part.packages]).sort(([left], [right]) => compareText(left, right))),
  };
}

function tooLarge(maxBytes: number): Finding {
  return {
    code: 'tool.import.too_large',
    message: `The file imports or names more than ${maxClosureFiles} files or ${maxBytes} bytes by path.`,
    hint: 'Make a package of what it needs.',
  };
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
