export type { ConformanceCheck } from './conformance/check.ts';
export type { ModelNeed } from './conformance/model.ts';
export {
  type ModelConformanceOptions,
  type ModelUnderTest,
  modelConformance,
  type ProviderReply,
} from './conformance/model.ts';
export { type StoreConformanceOptions, storeConformance } from './conformance/store.ts';
export { type ManualClock, manualClock } from './fakes/manual-clock.ts';
export { parseScript } from './fakes/parse-script.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  type ScriptStep,
  scriptedModel,
} from './fakes/scripted-model.ts';
export type { ConfigCases, PackCases, PresetCases } from './pack/cases.ts';
export type { PackManifest } from './pack/checks.ts';
export { measurePack, type PackRule, type PackRulesOptions } from './pack/rules.ts';
export { type PackTesterOptions, packTester } from './pack/tester.ts';
export type { PolicyCall, PolicyCase, PolicyStep, PolicyTesterOptions } from './policy/cases.ts';
export { policyTester } from './policy/tester.ts';
export type { VariantKind } from './policy/variants.ts';
export { type ComparedCall, type ComparePoliciesOptions, comparePolicies, type Verdict } from './recorded/compare.ts';
export type { Judgement } from './recorded/judged-policy.ts';
export { listObserved, type ObservedDecision, type ObservedPolicy } from './recorded/observed.ts';
