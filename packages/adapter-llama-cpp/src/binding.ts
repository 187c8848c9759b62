import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type * as NodeLlamaCpp from 'node-llama-cpp';

/** The part of `node-llama-cpp` that the adapter uses. */
export type Binding = Pick<
  typeof NodeLlamaCpp,
  'getLlama' | 'LlamaChat' | 'LlamaGrammarEvaluationState' | 'resolveChatWrapper'
>;

export const importBinding: () => Promise<Binding> = () => import('node-llama-cpp');

/** Loads llama.cpp from the installed package, without building or downloading anything. */
export async function startLlama(
  load: () => Promise<Binding>,
  threads: number,
): Promise<{ readonly binding: Binding; readonly llama: NodeLlamaCpp.Llama }> {
  const binding = await load().catch((cause: unknown) => {
    throw missing('`node-llama-cpp` is not installed', cause);
  });
  try {
    const llama = await binding.getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      logLevel: 'disabled' as NodeLlamaCpp.LlamaLogLevel,
      progressLogs: false,
      maxThreads: threads,
    });
    return { binding, llama };
  } catch (cause) {
    throw missing('`node-llama-cpp` has no llama.cpp binary for this machine', cause);
  }
}

function missing(what: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'llama.unavailable',
    `${what}: ${describeThrown(cause).slice(0, 300)}. Run \`npm install node-llama-cpp@3\`, including its packages for this platform.`,
    { data: { reason: 'binding' }, cause },
  );
}
