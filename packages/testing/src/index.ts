export { type ManualClock, manualClock } from './manual-clock.ts';
export type { ModelNeed } from './model-checks.ts';
export {
  type ModelConformanceOptions,
  type ModelUnderTest,
  modelConformance,
  type ProviderReply,
} from './model-conformance.ts';
export { parseScript } from './parse-script.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  type ScriptStep,
  scriptedModel,
} from './scripted-model.ts';
export { type ConformanceCheck, type StoreConformanceOptions, storeConformance } from './store-conformance.ts';
