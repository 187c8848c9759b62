export {
  createModuleEngine,
  type ModuleEngine,
  type ModuleEngineOptions,
  type ModuleRunOptions,
} from './engine.ts';
export type { LoadedModule } from './load-module.ts';
export { type LoadedModules, type LoadModulesOptions, loadModules } from './load-modules.ts';
export type { PredictFunction } from './loop-function.ts';
export { type MemoryModules, memoryModules } from './memory-modules.ts';
export type {
  ModuleDefinition,
  ModuleExtraction,
  ModuleField,
  ModuleMetadata,
  ModuleSignature,
} from './module-definition.ts';
export { isModuleError, type ModuleError, type ModuleErrorCode, type ModuleErrorKind } from './module-error.ts';
export type { ModuleCounters, ModuleEvent } from './module-event.ts';
export { findIdProblem, type ModuleParsing, parseModule, stringifyModule } from './module-file.ts';
export type { FileProblem, ModuleDiagnostic, ModuleProblem } from './module-problem.ts';
export type { ModuleSource, ModuleSourceWatch } from './module-source.ts';
export type { ModuleWatch } from './module-watch.ts';
export { chainOfThought, type PredictorOptions, predict } from './predict.ts';
export type { InvokeOptions, Prediction, Predictor } from './prediction.ts';
export type { Demo, PredictorType, Program, Tuning } from './program.ts';
export { type ReactOptions, type ReactPredictor, type ReactProtocol, type ReactResult, react } from './react.ts';
export { defineSignature, type Signature, type SignatureDefinition, type SignatureField } from './signature.ts';
export { type ToPredictorOptions, toPredictor } from './to-predictor.ts';
export {
  type LoopRunOptions,
  type ToolLoop,
  type ToolLoopOptions,
  type WrapToolsOptions,
  wrapTools,
} from './tool-loop.ts';
export type { LoopCall, LoopProblem, ToolLoopResult } from './tool-loop-result.ts';
export { createToolset, type ToolExecution, type ToolListing, type Toolset, type ToolsetOptions } from './toolset.ts';
