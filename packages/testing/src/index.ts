export type { ConformanceCheck } from './conformance/check.ts';
export { type ManualClock, manualClock } from './fakes/manual-clock.ts';
export { parseScript } from './fakes/parse-script.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  type ScriptStep,
  scriptedModel,
} from './fakes/scripted-model.ts';
export type { PackCases, PresetCases } from './pack/cases.ts';
export { measurePack, type PackRule } from './pack/rules.ts';
export { type PackTesterOptions, packTester } from './pack/tester.ts';
export type { PolicyCall, PolicyCase, PolicyStep, PolicyTesterOptions } from './policy/cases.ts';
export { policyTester } from './policy/tester.ts';
