export { isModuleError, type ModuleError, type ModuleErrorCode, type ModuleErrorKind } from './module-error.ts';
export { chainOfThought, type PredictorOptions, predict } from './predict.ts';
export type { InvokeOptions, Prediction, Predictor } from './prediction.ts';
export type { Demo, PredictorType, Program, Tuning } from './program.ts';
export { defineSignature, type Signature, type SignatureDefinition, type SignatureField } from './signature.ts';
