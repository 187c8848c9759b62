export { createRegistry } from './create-registry.ts';
export { foldName } from './fold-name.ts';
export { findVersionProblem, holdfastVersion } from './holdfast-version.ts';
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
