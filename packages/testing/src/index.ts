export type { VariantKind } from './argument-variants.ts';
export { type ComparedCall, type ComparePoliciesOptions, comparePolicies, type Verdict } from './compare-policies.ts';
export type { Judgement } from './judged-policy.ts';
export { listObserved, type ObservedDecision, type ObservedPolicy } from './list-observed.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export type { ModelNeed } from './model-checks.ts';
export {
  type ModelConformanceOptions,
  type ModelUnderTest,
  modelConformance,
  type ProviderReply,
} from './model-conformance.ts';
export type { ConfigCases, PackCases, PresetCases } from './pack-cases.ts';
export type { PackManifest } from './pack-checks.ts';
export { measurePack, type PackRule, type PackRulesOptions } from './pack-rules.ts';
export { type PackTesterOptions, packTester } from './pack-tester.ts';
export { parseScript } from './parse-script.ts';
export {
  type PolicyCall,
  type PolicyCase,
  type PolicyStep,
  type PolicyTesterOptions,
  policyTester,
} from './policy-tester.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  type ScriptStep,
  scriptedModel,
} from './scripted-model.ts';
export { type ConformanceCheck, type StoreConformanceOptions, storeConformance } from './store-conformance.ts';
