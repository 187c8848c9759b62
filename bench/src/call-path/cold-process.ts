// The first runs of a process, after everything is imported: prints the nanoseconds of CPU time that each took, as JSON.
import type { Prompt } from '@holdfast/core';
import { cpuNow } from '../compare.ts';
import { instructions, type LoopShape, prepareRun } from './agent-run.ts';
import { governedFloor } from './floors.ts';

/** The prompt of a host without `@holdfast/prompt`. */
const plainPrompt: LoopShape['createPrompt'] = ({ tool }): Prompt => ({
  name: 'plain',
  render: () => ({ text: instructions, tools: [tool], policies: new Map(), allPolicies: [] }),
});

const shapes = new Map<string, Omit<LoopShape, 'turns'>>([
  ['prompt', {}],
  ['plain', { createPrompt: plainPrompt }],
]);

/** Creates prompt, policies and session, and runs. */
function runOf(kind: string): (turns: number) => Promise<unknown> {
  const shape = shapes.get(kind);
  if (shape !== undefined) return (turns) => prepareRun({ ...shape, turns })();
  return async (turns) => {
    const call = governedFloor(false);
    for (let turn = 0; turn < turns; turn += 1) await call();
  };
}

const run = runOf(process.argv[2] ?? '');
const startedAt = cpuNow();
await run(1);
const firstEndedAt = cpuNow();
await run(100);
console.log(JSON.stringify({ first: firstEndedAt - startedAt, hundred: cpuNow() - firstEndedAt }));
