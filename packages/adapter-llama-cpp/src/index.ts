export type { LoweredKeyword, LoweredSchema } from './grammar.ts';
export { type LlamaModel, type LlamaModelOptions, loadLlamaModel } from './llama-model.ts';
