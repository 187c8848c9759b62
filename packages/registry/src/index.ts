export type { HoldfastConfig } from './config/config.ts';
export { defineConfig } from './config/schema.ts';
export { createRegistry } from './open/create-registry.ts';
export { approveTools, filterTools, limitTools, prefixTools, renameTools, type Toolset } from './resolve/toolset.ts';
export type {
  Explanation,
  PackageSource,
  Provenance,
  Registry,
  RegistryOptions,
  RegistryProblem,
  UsePackOptions,
  UsePluginOptions,
} from './resolve/types.ts';
