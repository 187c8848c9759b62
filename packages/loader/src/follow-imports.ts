import { dirname } from 'node:path';
import { compareDiagnostics, type Diagnostic } from './diagnostic.ts';
import { findReal } from './folder-pins.ts';
import { createClosureReader } from './import-closure.ts';
import type { FolderScan, ScanFolderOptions } from './scan-folder.ts';

// What else a lock refuses runs without one.
const missingPackage = 'tool.import.package';
const broken = /^tool\.(?:import\.(?:missing|unreadable|package)$|file\.)/;

/**
 * A scan with what the good files import: one that needs a file that is not there, cannot be read or does not parse is refused. A
 * package that is not found is a warning, because it may be installed later; an error under `strict`. Nothing runs.
 *
 * @throws HoldfastError `tools.folder.missing`.
 */
export async function followImports(
  directory: string,
  { files, diagnostics }: FolderScan,
  { strict = false }: Pick<ScanFolderOptions, 'strict'> = {},
): Promise<FolderScan> {
  const folder = await findReal(directory);
  await using reader = createClosureReader({ root: dirname(folder), folder });
  const found: Diagnostic[] = [];
  const refused = new Set<string>();
  for (const scanned of files) {
    if (scanned.type === 'refused') continue;
    const reading = await reader.read(scanned.path);
    if (reading.type === 'read' || !broken.test(reading.diagnostic.code)) continue;
    const severity = reading.diagnostic.code === missingPackage && !strict ? 'warning' : 'error';
    if (severity === 'error') refused.add(scanned.file);
    found.push({ ...reading.diagnostic, severity });
  }
  return {
    files: files.map((one) => (refused.has(one.file) ? { type: 'refused', file: one.file } : one)),
    diagnostics: [...diagnostics, ...found].sort(compareDiagnostics),
  };
}
