// node-llama-cpp of the adapter's package in this workspace, on the CPU with one thread: on busy cores the default number of
// threads is far slower.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export async function loadTinyModel(modelPath) {
  const adapter = createRequire(new URL('../packages/adapter-llama-cpp/package.json', import.meta.url));
  const { getLlama, LlamaGrammarEvaluationState } = await import(pathToFileURL(adapter.resolve('node-llama-cpp')).href);
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error', maxThreads: 1 });
  return { llama, model: await llama.loadModel({ modelPath }), LlamaGrammarEvaluationState };
}
