export type { ModuleField, ModuleSignature } from './files/definition.ts';
export { findIdProblem, parseModule, stringifyModule } from './files/module-file.ts';
export type { LoopRunOptions } from './loop/tool-loop.ts';
export type { Demo, PredictorType, Tuning } from './signature/program.ts';
export type { SignatureField } from './signature/signature.ts';
