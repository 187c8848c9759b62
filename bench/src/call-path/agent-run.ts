import type { Model, ModelEvent, Prompt } from '@holdfast/core';
import { type RunResult, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import type { Session } from '@holdfast/session';
import type { Subject } from '../compare.ts';
import { callsPerSample, lookingUp, type Work } from './governed.ts';

export const instructions = 'Look the entity up.';

/** The shape of an agent loop. */
export interface LoopShape {
  /** Turns with calls; a final turn answers without one. */
  readonly turns: number;
  /** Calls in a turn. Default 1. */
  readonly width?: number;
  /** Default `lookingUp`. */
  readonly work?: Work;
  /** Default: a scripted model. */
  readonly createModel?: () => Model;
  /** Default: a new one of the work. */
  readonly session?: Session;
  /** Default: a prompt of one section. */
  readonly createPrompt?: (work: Work) => Prompt;
}

/** Prepares a run and returns it. Fails unless every call succeeds. */
export function prepareRun(shape: LoopShape): () => Promise<{ readonly session: Session; readonly result: RunResult }> {
  const { turns, width = 1, work = lookingUp, session = work.createSession() } = shape;
  const options = {
    model: shape.createModel?.() ?? scripted(turns, width, work),
    session,
    policies: work.createPolicies(),
    prompt: (shape.createPrompt ?? onePrompt)(work),
    input: instructions,
    onEvent: () => undefined,
    maxRounds: turns + 1,
  };
  return async () => {
    const result = await runAgent(options).result;
    const succeeded = result.outcomes.filter(({ kind }) => kind === 'ok').length;
    if (result.status !== 'completed' || succeeded !== turns * width)
      throw new Error(`the loop ended as \`${result.status}\` with ${succeeded} of ${turns * width} calls`);
    return { session, result };
  };
}

function onePrompt({ tool }: Work): Prompt {
  return createPrompt({
    ns: 'bench',
    key: 'loop',
    sections: [markdownSection({ title: 'Entities', template: instructions, tools: [tool] })],
  });
}

/** A minimal model. It keeps no requests, so the heap only holds what the runtime keeps. */
function scripted(turns: number, width: number, { tool, argumentsText }: Work): Model {
  let asked = 0;
  return {
    id: 'bench:scripted',
    async *stream(): AsyncGenerator<ModelEvent, void, undefined> {
      asked += 1;
      if (asked > turns) {
        yield { type: 'text-delta', text: 'Done.' };
        yield { type: 'finish', reason: 'stop' };
        return;
      }
      for (let at = 0; at < width; at += 1)
        yield { type: 'tool-call', id: `c${asked}_${at}`, name: tool.name, arguments: argumentsText };
      yield { type: 'finish', reason: 'tool-calls' };
    },
  };
}

/** Loops of this shape with `calls` calls in total, at least one loop; one operation is one call. */
export function loops(
  named: Pick<Subject, 'name' | 'against' | 'goalNs'>,
  shape: LoopShape,
  calls: number = callsPerSample,
): Subject {
  const perRun = shape.turns * (shape.width ?? 1);
  const runs = Math.max(1, Math.round(calls / perRun));
  return {
    ...named,
    operations: runs * perRun,
    prepare() {
      const prepared = Array.from({ length: runs }, () => prepareRun(shape));
      return async () => {
        for (const run of prepared) await run();
      };
    },
  };
}
