export {
  type OpenedRegistry,
  type OpenRegistryOptions,
  openRegistry,
  type RegistryDiagnostic,
  type UsedPack,
  type UsedPlugin,
} from './open/open-registry.ts';
export {
  findInstalledPlugins,
  findPackage,
  findPackageEntry,
  type InstalledPlugin,
  readPackageVersion,
} from './open/package-manifest.ts';
export { findConfig, type LoadedConfig, type ReadConfigOptions, readConfig } from './open/read-config.ts';
