import { join, relative, sep } from 'node:path';
import { kindOf, openReaders } from '../language/find.ts';
import type { Language } from '../language/types.ts';
import { type Diagnostic, type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { compareText, digestClosure } from './digest.ts';
import { createPackageFinder } from './packages.ts';
import {
  type ClosureFile,
  type ClosurePart,
  maxDataBytes,
  type PartReading,
  type PartReference,
  readPart,
} from './part.ts';

/** A file with all files that it imports by path, or names in its command, read once. */
export interface Closure {
  /** Path of the file itself. */
  readonly entry: string;
  /** Digest of `entry` and of the paths and digests of `files`. */
  readonly digest: string;
  /** In path order. */
  readonly files: readonly ClosureFile[];
  /** Name and version of packages imported by name, in name order, without Node's built-in modules. */
  readonly packages: ReadonlyMap<string, string>;
}

export type ClosureReading =
  | { readonly type: 'read'; readonly closure: Closure; readonly warnings: readonly Diagnostic[] }
  | { readonly type: 'refused'; readonly diagnostic: Diagnostic };

export interface ClosurePlace {
  /** The boundary of imports. Absolute, without symlinks. */
  readonly root: string;
  /** The tools folder; paths in diagnostics are relative to it. */
  readonly folder: string;
  /** In addition to JavaScript and TypeScript. */
  readonly languages?: readonly Language[] | undefined;
  /** Called with the path before a file is read. */
  readonly onRead?: ((path: string) => void | Promise<void>) | undefined;
}

/** Reads closures. Reads each file once for all tools. Dispose of it at the end. */
export interface ClosureReader extends AsyncDisposable {
  /** @param path - absolute, without symlinks, in the root. */
  read(path: string): Promise<ClosureReading>;
}

// The limit for data applies to single files and to the total.
const maxBytes = { code: 32 * 1024 * 1024, data: maxDataBytes } as const;
const maxClosureFiles = 300;

/**
 * Follows the imports of files without running them: relative imports to files, packages to versions. Refuses dynamic specifiers, paths
 * outside `root`, links, and files other than ES modules or JSON: `tool.import.*`. For a command, reads the files that it names.
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
          // An unreadable file is reported at the import.
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
    code: 'tool.import.invalid',
    reason: 'too_large',
    message: `The file imports or names more than ${maxClosureFiles} files or ${maxBytes} bytes by path.`,
    hint: 'Move its dependencies into a package.',
  };
}
