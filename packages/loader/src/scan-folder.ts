import type { ToolMetadata } from './check-metadata.ts';
import { type Diagnostic, toDiagnostic } from './diagnostic.ts';
import { type MetadataReading, type ReadMetadataOptions, readMetadata } from './read-metadata.ts';
import { listToolFiles, readToolFile, type ToolFileReading } from './tool-files.ts';
import { findFileTwins, findNameTwins } from './twins.ts';

/** A file of a tools folder: one with a tool, or one that was refused for the reasons in the diagnostics. */
export type ScannedFile =
  | {
      readonly type: 'tool';
      /** Relative to the tools folder, parted by `/`. */
      readonly file: string;
      /** Absolute, without symlinks. */
      readonly path: string;
      /** SHA-256 of the file's bytes in hexadecimal. */
      readonly digest: string;
      readonly metadata: ToolMetadata;
    }
  | { readonly type: 'refused'; readonly file: string };

export interface FolderScan {
  /** In name order. */
  readonly files: readonly ScannedFile[];
  /** In file order. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface ScanFolderOptions extends ReadMetadataOptions {
  /** Reads the folders in the folder, too, however deep; not those whose names begin with `.` or `_`. Default false. */
  readonly subfolders?: boolean;
}

type ReadFile = Extract<ToolFileReading, { type: 'read' }>;
type Verified = { readonly file: ReadFile; readonly reading: Extract<MetadataReading, { type: 'read' }> };

/**
 * Reads and verifies every tool file of a folder. Nothing of any file runs, and a bad file costs no good one.
 *
 * @throws HoldfastError `tools.folder.missing`, `tools.folder.not_directory`, `tools.folder.unreadable`.
 */
export async function scanFolder(directory: string, options: ScanFolderOptions = {}): Promise<FolderScan> {
  const { root, files, unreadable } = await listToolFiles(directory, options);
  const diagnostics: Diagnostic[] = findFileTwins(files).map(({ index, finding }) =>
    toDiagnostic(finding, { file: files[index] ?? '' }),
  );
  const refused = new Set(diagnostics.map(({ file }) => file));
  for (const { folder, finding } of unreadable) diagnostics.push(toDiagnostic(finding, { file: folder }));
  const verified: Verified[] = [];
  for (const name of files) {
    if (refused.has(name)) continue;
    const file = await readToolFile(root, name);
    if (file.type === 'refused') {
      diagnostics.push(toDiagnostic(file.finding, { file: name }));
      continue;
    }
    const reading = await readMetadata(file.source, name, options);
    diagnostics.push(...reading.diagnostics);
    if (reading.type === 'read') verified.push({ file, reading });
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
    files: files.map((file) => toScanned(file, good.get(file))),
    diagnostics: diagnostics.sort(
      (left, right) => compareText(left.file, right.file) || left.line - right.line || left.column - right.column,
    ),
  };
}

function toScanned(file: string, verified: Verified | undefined): ScannedFile {
  if (verified === undefined) return { type: 'refused', file };
  const { path, digest } = verified.file;
  return { type: 'tool', file, path, digest, metadata: verified.reading.metadata };
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
