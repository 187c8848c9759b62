export {
  createModuleEngine,
  type ModuleEngine,
  type ModuleEngineOptions,
  type ModuleRunOptions,
} from './engine/engine.ts';
export type { ModuleWatch } from './engine/watch.ts';
export type {
  ModuleDefinition,
  ModuleExtraction,
  ModuleField,
  ModuleMetadata,
  ModuleSignature,
} from './files/definition.ts';
export type { ModuleCounters, ModuleEvent } from './files/event.ts';
export type { LoadedModule } from './files/load-module.ts';
export { type LoadedModules, type LoadModulesOptions, loadModules } from './files/load-modules.ts';
export { findIdProblem, type ModuleParsing, parseModule, stringifyModule } from './files/module-file.ts';
export { type MemoryModules, type ModuleSource, type ModuleSourceWatch, memoryModules } from './files/source.ts';
export { type ToPredictorOptions, toPredictor } from './files/to-predictor.ts';
export type { PredictFunction } from './loop/predictor.ts';
export type { LoopCall, LoopProblem, ToolLoopResult } from './loop/result.ts';
export {
  createToolCatalog,
  type ToolCatalog,
  type ToolCatalogOptions,
  type ToolExecution,
  type ToolListing,
} from './loop/tool-catalog.ts';
export {
  type LoopRunOptions,
  type ToolLoop,
  type ToolLoopOptions,
  type WrapToolsOptions,
  wrapTools,
} from './loop/tool-loop.ts';
export {
  chainOfThought,
  type InvokeOptions,
  type Prediction,
  type Predictor,
  type PredictorOptions,
  predict,
} from './predict/predict.ts';
export { type ReactOptions, type ReactPredictor, type ReactProtocol, type ReactResult, react } from './react/react.ts';
export {
  type FileProblem,
  isModuleError,
  type ModuleDiagnostic,
  type ModuleError,
  type ModuleErrorCode,
  type ModuleErrorKind,
  type ModuleProblem,
} from './signature/problems.ts';
export type { Demo, PredictorType, Program, Tuning } from './signature/program.ts';
export {
  defineSignature,
  type Signature,
  type SignatureDefinition,
  type SignatureField,
} from './signature/signature.ts';
