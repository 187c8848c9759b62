export type { MetadataReading } from './check/literal.ts';
export type { ArgumentPassing, Isolation, MetadataForm, ToolCommand, ToolMetadata } from './check/types.ts';
export { type CodeFiles, readCodeFiles } from './imports/code-files.ts';
export type { EnvironmentRequest, GrantEnvironment } from './isolate/environment.ts';
export { defaultIsolation, describeIsolation, type TierState } from './isolate/tiers.ts';
export type { ToolProcessOptions } from './load/tool-host.ts';
export { type LoadedTools, type LoadToolsOptions, loadTools } from './load/tools.ts';
export type { LockChange } from './pins/changes.ts';
export {
  type ComparedTool,
  type CompareLockOptions,
  compareLock,
  type LockComparison,
  type LockState,
} from './pins/compare.ts';
export { followImports } from './pins/folder.ts';
export { isRegistryCurrent } from './pins/warm-start.ts';
export type { DefinitionChange } from './plugins/changes.ts';
export {
  type CompareDefinitionsOptions,
  type ComparedPlugin,
  compareDefinitions,
  type DefinitionComparison,
  type DefinitionLock,
  type FileToImport,
  findDefinitionProblem,
  readDefinitionLock,
} from './plugins/compare.ts';
export { type DefinitionSource, definitionsOf, type PluginDefinitions } from './plugins/definitions.ts';
export { type LoadedPlugin, type LoadPluginOptions, loadPlugin } from './plugins/load.ts';
export { type FolderScan, type ScannedFile, scanFolder } from './scan/folder.ts';
export { type ReadMetadataOptions, readMetadata } from './scan/metadata.ts';
export type { ScanFolderOptions } from './scan/tool-files.ts';
export { type Diagnostic, formatDiagnostic } from './text/diagnostic.ts';
export { type ToolReload, type WatchedTools, type WatchToolsOptions, watchTools } from './watch/tools.ts';
