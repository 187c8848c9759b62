export { type AiSdkModelOptions, aiSdkModel, type LoweredSchema } from './ai-sdk-model.ts';
export type { AiSdkModel } from './specification.ts';
export { type AiSdkTool, type AiSdkTools, type AiSdkToolsOptions, toAiSdkTools } from './to-ai-sdk-tools.ts';
