export { type AiSdkModelOptions, aiSdkModel, type LoweredSchema } from './ai-sdk-model.ts';
export { type LoweredKeyword, type Lowering, lowerSchema } from './lower-schema.ts';
export type { LoweringTargetName } from './lowering-targets.ts';
export type { AiSdkCallOptions, AiSdkModel, AiSdkReader, AiSdkStream } from './specification.ts';
export {
  type AiSdkSchema,
  type AiSdkTool,
  type AiSdkTools,
  type AiSdkToolsOptions,
  type ExecuteCall,
  toAiSdkTools,
} from './to-ai-sdk-tools.ts';
