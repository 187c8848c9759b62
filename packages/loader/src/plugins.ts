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
