export { findInstalledPlugins, type InstalledPlugin } from './installed-plugins.ts';
export {
  type OpenedRegistry,
  type OpenRegistryOptions,
  openRegistry,
  type RegistryDiagnostic,
  type UsedPack,
  type UsedPlugin,
} from './open-registry.ts';
export { findConfig, type LoadedConfig, type ReadConfigOptions, readConfig } from './read-config.ts';
