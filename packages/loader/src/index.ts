export type { ToolCommand } from './check-command.ts';
export type { Isolation } from './check-extended.ts';
export type { MetadataReading } from './check-literal.ts';
export type { ArgumentPassing, MetadataForm, ToolMetadata } from './check-metadata.ts';
export { type CodeFiles, readCodeFiles } from './code-files.ts';
export {
  type CompareDefinitionsOptions,
  type ComparedPlugin,
  compareDefinitions,
  type DefinitionComparison,
  type DefinitionLock,
  findDefinitionProblem,
  readDefinitionLock,
} from './compare-definitions.ts';
export {
  type ComparedTool,
  type CompareLockOptions,
  compareLock,
  type LockComparison,
  type LockState,
} from './compare-lock.ts';
export type { DefinitionChange } from './definition-changes.ts';
export { type Diagnostic, formatDiagnostic } from './diagnostic.ts';
export { findPython, type PythonState } from './find-python.ts';
export { followImports } from './follow-imports.ts';
export type { FileToImport } from './import-problem.ts';
export { defaultIsolation, describeIsolation, type TierState } from './isolation-tiers.ts';
export { type LoadedPlugin, type LoadPluginOptions, loadPlugin } from './load-plugin.ts';
export { type LoadedTools, type LoadToolsOptions, loadTools } from './load-tools.ts';
export type { LockChange } from './lock-changes.ts';
export { type DefinitionSource, definitionsOf, type PluginDefinitions } from './plugin-definitions.ts';
export { type ReadMetadataOptions, readMetadata } from './read-metadata.ts';
export { isRegistryCurrent } from './registry-current.ts';
export { type FolderScan, type ScanFolderOptions, type ScannedFile, scanFolder } from './scan-folder.ts';
export type { ToolProcessOptions } from './tool-host.ts';
export { type ToolReload, type WatchedTools, type WatchToolsOptions, watchTools } from './watch-tools.ts';
