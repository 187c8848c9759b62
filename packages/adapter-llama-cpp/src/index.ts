export type { LoweredSchema } from './answering.ts';
export type { LoweredKeyword } from './grammar.ts';
export { type LlamaModel, type LlamaModelOptions, loadLlamaModel } from './llama-model.ts';
