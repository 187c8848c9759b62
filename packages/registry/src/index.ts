export type {
  ConfigIsolation,
  ConfigLayer,
  ConfigLayerName,
  ConfigLimits,
  ConfigOrigin,
  HoldfastConfig,
  PackEntry,
  PluginEntry,
  WorkspaceConfig,
  WorkspacePackEntry,
} from './config.ts';
export { type ConfigPolicies, configPolicies, type UnknownToolName } from './config-policies.ts';
export { createRegistry } from './create-registry.ts';
export { defineConfig } from './define-config.ts';
export {
  type ConfigRow,
  type EffectiveConfig,
  type EffectiveList,
  type EffectiveValue,
  listConfigValues,
  type PassedOver,
} from './effective-config.ts';
export { foldName } from './fold-name.ts';
export { findVersionProblem, holdfastVersion } from './holdfast-version.ts';
export { mergeConfig } from './merge-config.ts';
export { findNearestName } from './nearest-name.ts';
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
} from './registry.ts';
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
} from './toolset.ts';
