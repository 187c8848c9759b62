import { setImmediate } from 'node:timers/promises';
import type { MetadataReading } from '../check/literal.ts';
import type { ToolMetadata } from '../check/types.ts';
import { kindOf, type LanguageReaders, missingLanguage, openReaders } from '../language/find.ts';
import type { ToolReading, ToolSource } from '../language/types.ts';
import { compareDiagnostics, type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import { readMetadata } from './metadata.ts';
import { listToolFiles, readToolFile, type ScanFolderOptions } from './tool-files.ts';
import { findBelonging, findFileTwins, findNameTwins } from './twins.ts';

/** A file of a tools folder: one with a tool, or one refused because of its diagnostics. */
export type ScannedFile =
  | {
      readonly type: 'tool';
      /** Relative to the tools folder, with `/`. */
      readonly file: string;
      /** Absolute, without symlinks. */
      readonly path: string;
      /** SHA-256 of the file's bytes in hexadecimal. */
      readonly digest: string;
      readonly metadata: ToolMetadata;
      /** SHA-256 in hexadecimal of the files that a command names, by absolute path. Absent: only the file itself. */
      readonly commandFiles?: ReadonlyMap<string, string>;
    }
  | { readonly type: 'refused'; readonly file: string };

export interface FolderScan {
  /** In name order, without files that belong to another one: those that a command names, or that Python imports. */
  readonly files: readonly ScannedFile[];
  /** In file order. */
  readonly diagnostics: readonly Diagnostic[];
}

// Reading and parsing are synchronous; yields to the rest of the program after this time.
const maxBusyMs = 10;

/** A file and its reading. */
interface Candidate {
  readonly file: ToolSource;
  readonly found: ToolReading;
}
type Verified = Candidate & { readonly reading: Extract<MetadataReading, { type: 'read' }> };

/**
 * Reads and verifies every tool file of a folder without running any. A bad file does not affect the others.
 *
 * @throws HoldfastError `tools.folder.unreadable`.
 */
export async function scanFolder(directory: string, options: ScanFolderOptions = {}): Promise<FolderScan> {
  const { root, files, unreadable } = await listToolFiles(directory, options);
  const diagnostics: Diagnostic[] = findFileTwins(files).map(({ index, finding }) =>
    toDiagnostic(finding, { file: files[index] ?? '' }),
  );
  const refused = new Set(diagnostics.map(({ file }) => file));
  for (const { folder, finding } of unreadable) diagnostics.push(toDiagnostic(finding, { file: folder }));
  const unreadableFiles: Diagnostic[] = [];
  const candidates: Candidate[] = [];
  let restedAtMs = performance.now();
  await using readers = openReaders();
  const read = (file: ToolSource): Promise<ToolReading> => readTool(file, { root, options, readers });
  for (const name of files) {
    if (refused.has(name)) continue;
    if (performance.now() - restedAtMs > maxBusyMs) {
      await setImmediate();
      restedAtMs = performance.now();
    }
    const file = readToolFile(root, name);
    if (file.type === 'refused') unreadableFiles.push(toDiagnostic(file.finding, { file: name }));
    else candidates.push({ file, found: await read(file) });
  }

  const readings = new Map(candidates.map(({ file, found }) => [file.file, found]));
  const { files: belonging, findings } = findBelonging(readings, options.strict === true);
  diagnostics.push(...unreadableFiles.filter(({ file }) => !belonging.has(file)));
  for (const { file, finding } of findings) {
    if (finding.severity === 'error') refused.add(file);
    diagnostics.push(toDiagnostic(finding, { file }));
  }
  const verified: Verified[] = [];
  for (const { file, found } of candidates) {
    if (belonging.has(file.file)) continue;
    diagnostics.push(...found.reading.diagnostics);
    if (found.reading.type === 'read') verified.push({ file, found, reading: found.reading });
  }

  const tools = verified.map(({ file, reading }) => ({ file: file.file, name: reading.metadata.name }));
  for (const { index, finding } of findNameTwins(tools)) {
    const twin = verified[index];
    if (twin === undefined) continue;
    const { file, source } = twin.file;
    if (finding.severity !== 'warning') refused.add(file);
    diagnostics.push(toDiagnostic(finding, { file, source, offset: twin.reading.nameOffset }));
  }

  const good = new Map(verified.filter(({ file }) => !refused.has(file.file)).map((one) => [one.file.file, one]));
  return {
    files: files.filter((file) => !belonging.has(file)).map((file) => toScanned(file, good.get(file))),
    diagnostics: diagnostics.sort(compareDiagnostics),
  };
}

interface Scan {
  readonly root: string;
  readonly options: ScanFolderOptions;
  readonly readers: LanguageReaders;
}

async function readTool(file: ToolSource, { root, options, readers }: Scan): Promise<ToolReading> {
  const { strict = false, languages } = options;
  const kind = kindOf(file.file, languages);
  if (kind === undefined) {
    const diagnostic = toDiagnostic(missingLanguage(file.file), { file: file.file });
    return { reading: { type: 'refused', diagnostics: [diagnostic] }, parts: [] };
  }
  if (kind !== 'module') return await readers.of(kind).readTool(file, { root, strict });
  const reading = await readMetadata(file.source, file.file, { strict });
  return { reading, parts: [] };
}

function toScanned(file: string, verified: Verified | undefined): ScannedFile {
  if (verified === undefined) return { type: 'refused', file };
  const { path, digest } = verified.file;
  const { commandFiles } = verified.found;
  return {
    type: 'tool',
    file,
    path,
    digest,
    metadata: verified.reading.metadata,
    ...(commandFiles === undefined ? {} : { commandFiles }),
  };
}
