export { hashOverridden, type OverrideDocument } from './overrides/document.ts';
export {
  type LoadedOverrides,
  loadOverrides,
  type OverrideOptions,
  type SeededOverrides,
  saveOverrides,
  seedOverrides,
} from './overrides/override.ts';
export type { AppliedOverride, OverrideReport } from './overrides/resolve.ts';
export { memoryOverrides, type OverrideStore } from './overrides/store.ts';
