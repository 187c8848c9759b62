import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './holdfast.ts';

/** What came of the example with a language model. */
export type LocalModelRun =
  | { readonly type: 'ran'; readonly text: string }
  /** The machine cannot run one, or the example did not hold. */
  | { readonly type: 'failed'; readonly reason: string };

/** Runs the example in a process of its own: what is native could end this one. */
export function runLocalModel(example: string = join(root, 'examples/24-local-model.ts')): Promise<LocalModelRun> {
  const child = spawn(process.execPath, ['--conditions=holdfast-source', example], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    written.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    written.stderr += chunk.toString();
  });
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ type: 'failed', reason: message }));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve({ type: 'ran', text: written.stdout.trimEnd() });
      const [, message] = /^\w*Error\b.*?: (.*)$/m.exec(written.stderr) ?? [];
      resolve({ type: 'failed', reason: message ?? `its process ended with ${signal ?? code}` });
    });
  });
}
