export {
  type ConfigIsolation,
  type ConfigLayer,
  type ConfigLayerName,
  type ConfigLimits,
  type ConfigOrigin,
  type ConfigPolicies,
  type ConfigRow,
  configPolicies,
  type EffectiveConfig,
  type EffectiveList,
  type EffectiveRules,
  type EffectiveValue,
  type HoldfastConfig,
  listConfigValues,
  listRules,
  type NamedRules,
  nameRules,
  type PackEntry,
  type PassedOver,
  type PluginEntry,
  type UnknownToolName,
  type WorkspaceConfig,
  type WorkspacePackEntry,
} from './config/config.ts';
export { mergeConfig } from './config/merge.ts';
export { defineConfig } from './config/schema.ts';
export { createRegistry } from './open/create-registry.ts';
export { findVersionProblem, holdfastVersion } from './resolve/holdfast-version.ts';
export { foldName } from './resolve/names.ts';
export {
  type ApproveToolsOptions,
  approveTools,
  filterTools,
  type LimitToolsOptions,
  limitTools,
  prefixTools,
  renameTools,
  type Toolset,
  type ToolsetSource,
} from './resolve/toolset.ts';
export type {
  Explanation,
  LooseTools,
  PackageSource,
  Provenance,
  RegisteredKind,
  RegisteredPack,
  RegisteredPlugin,
  Registry,
  RegistryOptions,
  RegistryProblem,
  UsePackOptions,
  UsePluginOptions,
} from './resolve/types.ts';
