export type { ToolMetadata } from './check-metadata.ts';
export { type Diagnostic, formatDiagnostic } from './diagnostic.ts';
export { type LoadedTools, type LoadToolsOptions, loadTools } from './load-tools.ts';
export { type MetadataReading, type ReadMetadataOptions, readMetadata } from './read-metadata.ts';
export { type FolderScan, type ScanFolderOptions, type ScannedFile, scanFolder } from './scan-folder.ts';
