import { hash } from 'node:crypto';
import { dirname, extname } from 'node:path';
import { readBounded, type Stamp } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import type { LanguageReaders, ToolFileKind } from '../language/find.ts';
import type { Language } from '../language/types.ts';
import { parseModule } from '../parse/module.ts';
import { decodeText } from '../text/decode.ts';
import { type Diagnostic, type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { isPlainPath } from '../text/hidden-text.ts';
import type { PackageFinder } from './packages.ts';
import { commonJs, isCommonJs, listImports, resolveImport } from './resolve.ts';

export interface ClosureFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
  /** True if it is executable. */
  readonly isExecutable: boolean;
}

/** How a file is read. `data`: without following anything in it. */
export type PartKind = ToolFileKind | 'data';

/** A reference from one file to another. */
export interface PartReference {
  /** Absolute. */
  readonly path: string;
  readonly kind: PartKind;
  /** For a language: the folder of the tool file. Absolute. */
  readonly base?: string;
  /** Offset of the reference in the other file. */
  readonly offset: number;
}

/** One file of a closure. */
export interface ClosurePart {
  readonly type: 'read';
  readonly file: ClosureFile;
  readonly imports: readonly PartReference[];
  /** Version by name. */
  readonly packages: ReadonlyMap<string, string>;
  readonly source: string;
  readonly warning: Diagnostic | undefined;
}

export type PartReading =
  | ClosurePart
  | { readonly type: 'refused'; readonly finding: Finding; readonly offset: number; readonly source: string };

export interface PartPlace {
  readonly root: string;
  readonly packages: PackageFinder;
  readonly readers: LanguageReaders;
  readonly onRead: ((path: string) => void | Promise<void>) | undefined;
  /** The file, relative to the root. */
  readonly name: string;
  /** The file, relative to the tools folder. */
  readonly shown: string;
}

/** Size limit for files that are not code. */
export const maxDataBytes: number = 64 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;

/** Reads one file and its references. Refuses dynamic specifiers, paths outside `root`, and links: `tool.import.*`. */
export async function readPart({ path, kind, base }: PartReference, place: PartPlace): Promise<PartReading> {
  const reading = await readBytes(path, kind, place);
  if (reading.type === 'refused') return reading;
  const { file } = reading;
  const leaf: ClosurePart = { type: 'read', file, imports: [], packages: new Map(), source: '', warning: undefined };
  if (kind === 'data' || (kind === 'module' && extname(path) === '.json')) return leaf;
  const source = decodeText(file.bytes);
  if (source === undefined) {
    const message = `\`${place.name}\` is not UTF-8 text.`;
    return refuse({ code: 'tool.import.invalid', reason: 'unreadable', message, hint: 'Save the file as UTF-8 text.' });
  }
  const part = { ...leaf, source };
  if (kind === 'module') return await readModule(path, part, place);
  return await readWithLanguage({ path, language: kind, base: base ?? dirname(path) }, part, place);
}

function refuse(finding: Finding, offset = 0, source = ''): Extract<PartReading, { type: 'refused' }> {
  return { type: 'refused', finding, offset, source };
}

type BytesReading =
  | { readonly type: 'read'; readonly file: ClosureFile }
  | Extract<PartReading, { readonly type: 'refused' }>;

async function readBytes(path: string, kind: PartKind, { name, onRead }: PartPlace): Promise<BytesReading> {
  if (!isPlainPath(name)) return refuse(oddName);
  await onRead?.(path);
  const place = findRealPath(path);
  if (place === undefined) {
    const hint = 'Write the file name with its extension.';
    return refuse({
      code: 'tool.import.invalid',
      reason: 'missing',
      message: `The file \`${name}\` does not exist.`,
      hint,
    });
  }
  if (place !== path) {
    const message = `\`${name}\` is, or is behind, a symbolic link.`;
    return refuse({
      code: 'tool.import.invalid',
      reason: 'symlink',
      message,
      hint: 'Import the file by its real path.',
    });
  }
  const reading = readBounded(path, kind === 'data' ? maxDataBytes : maxFileBytes);
  if (reading.type !== 'read') {
    const why = reading.type === 'missing' ? 'it no longer exists' : reading.why;
    const message = `Cannot pin \`${name}\`: ${why}.`;
    return refuse({
      code: 'tool.import.invalid',
      reason: 'unreadable',
      message,
      hint: 'Import a regular, readable file.',
    });
  }
  const { bytes, stamp } = reading;
  const digest = hash('sha256', bytes);
  // It may be a program, or be run by one.
  return { type: 'read', file: { path: name, digest, bytes, stamp, isExecutable: kind === 'data' } };
}

async function readModule(path: string, part: ClosurePart, { root, packages, shown }: PartPlace): Promise<PartReading> {
  const { source } = part;
  const parsing = await parseModule(source, path);
  if (parsing.type === 'refused') return refuse(parsing.finding, parsing.offset, source);
  if (isCommonJs(parsing.module, source)) return refuse(commonJs, 0, source);
  const imports: PartReference[] = [];
  const found = new Map<string, string>();
  for (const { specifier, offset } of listImports(parsing.module, source)) {
    const target = resolveImport(specifier, { path, root, packages });
    if (target.type === 'refused') return refuse(target.finding, offset, source);
    if (target.type === 'file') imports.push({ path: target.path, kind: 'module', offset });
    if (target.type === 'package') found.set(target.name, target.version);
  }
  const [meta] = parsing.module.importMetas;
  const warning =
    meta === undefined ? undefined : toDiagnostic(importMeta, { file: shown, source, offset: meta.start });
  return { ...part, imports, packages: found, warning };
}

async function readWithLanguage(
  { path, language, base }: { readonly path: string; readonly language: Language; readonly base: string },
  part: ClosurePart,
  { readers, shown }: PartPlace,
): Promise<PartReading> {
  const { source } = part;
  const reading = await readers.of(language).readPart({ path, source, base });
  if (reading.type === 'refused') return refuse(reading.finding, reading.offset, source);
  const { needs, warning } = reading;
  return {
    ...part,
    imports: needs.map(({ kind, ...need }) =>
      kind === 'data' ? { ...need, kind } : { ...need, kind: language, base },
    ),
    warning:
      warning === undefined
        ? undefined
        : toDiagnostic(warning.finding, { file: shown, source, offset: warning.offset }),
  };
}

const oddName: Finding = {
  code: 'tool.import.invalid',
  reason: 'unsupported',
  message: 'The path of the file contains a character that a lock does not allow.',
  hint: 'Rename the file without backslashes, colons and invisible characters.',
};

const importMeta: Finding = {
  severity: 'warning',
  code: 'tool.import.invalid',
  reason: 'meta',
  message: '`import.meta` refers to the pinned copy, which contains only imported files.',
  hint: 'Import data as JSON, or read it through `context.filesystem`.',
};
