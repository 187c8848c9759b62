export {
  type ConfigIsolation,
  type ConfigLayer,
  type ConfigOrigin,
  configPolicies,
  type EffectiveConfig,
  listConfigValues,
  listRules,
  type NamedRules,
  nameRules,
  type PassedOver,
  type UnknownToolName,
  type WorkspaceConfig,
} from './config/config.ts';
export { mergeConfig } from './config/merge.ts';
