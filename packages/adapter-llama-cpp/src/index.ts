export { type LlamaModel, type LlamaModelOptions, loadLlamaModel } from './llama-model.ts';
