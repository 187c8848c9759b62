export type { Isolation, ToolMetadata } from './check/types.ts';
export type { GrantEnvironment } from './isolate/environment.ts';
export { type LoadedTools, type LoadToolsOptions, loadTools } from './load/tools.ts';
export { compareLock, type LockComparison } from './pins/compare.ts';
export { type Diagnostic, formatDiagnostic } from './text/diagnostic.ts';
export { type ToolReload, type WatchedTools, type WatchToolsOptions, watchTools } from './watch/tools.ts';
