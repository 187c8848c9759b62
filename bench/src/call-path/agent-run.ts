import type { Model } from '@holdfast/core';
import { type RunResult, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession, type Session, type SessionOptions } from '@holdfast/session';
import { type ScriptedTurn, scriptedModel } from '@holdfast/testing';
import type { Subject } from '../compare.ts';
import { argumentsText, type ForecastTool, forecasts, toolName, twoPolicies, writingForecast } from './forecast.ts';

export const instructions = 'Answer from the forecast.';
export const question = 'What will the weather be?';

/** What is asked of one agent loop. */
export interface LoopShape {
  /** Turns with calls; one more answers without. */
  readonly turns: number;
  /** Default 1. */
  readonly callsPerTurn?: number;
  /** Default `writingForecast`. */
  readonly tool?: ForecastTool;
  /** Default: a scripted model. */
  readonly createModel?: () => Model;
  /** Default: a new one. */
  readonly session?: Session;
}

/** The messages that a scripted model plays. */
export function scriptOf({ turns, callsPerTurn = 1 }: LoopShape): readonly ScriptedTurn[] {
  return [
    ...Array.from({ length: turns }, (_, turn) => ({
      calls: Array.from({ length: callsPerTurn }, (__, index) => ({
        id: `call-${turn}-${index}`,
        name: toolName,
        arguments: argumentsText,
      })),
    })),
    { text: 'Done.' },
  ];
}

export function createForecastSession(options: Pick<SessionOptions, 'store'> = {}): Session {
  return createSession({ slices: [forecasts], ...options });
}

/** Makes everything that a run needs, and gives the run. It fails when not every call succeeded. */
export function prepareRun(shape: LoopShape): () => Promise<{ readonly session: Session; readonly result: RunResult }> {
  const { turns, callsPerTurn = 1, tool = writingForecast, createModel, session = createForecastSession() } = shape;
  const calls = turns * callsPerTurn;
  const options = {
    model: createModel?.() ?? scriptedModel(scriptOf(shape)),
    session,
    policies: twoPolicies(),
    prompt: createPrompt({
      ns: 'bench',
      key: 'loop',
      sections: [markdownSection({ title: 'Weather', template: instructions, tools: [tool] })],
    }),
    input: question,
    maxRounds: turns + 1,
  };
  return async () => {
    const result = await runAgent(options).result;
    const succeeded = result.outcomes.filter(({ kind }) => kind === 'ok').length;
    if (result.status !== 'completed' || succeeded !== calls)
      throw new Error(`${result.status} with ${succeeded} of ${calls} calls`);
    return { session, result };
  };
}

/** Loops of that shape, repeated until a sample has `callsPerSample` calls, or once when it has more; the operation is one call. */
export function loops(
  { name, against }: Pick<Subject, 'name' | 'against'>,
  shape: LoopShape,
  callsPerSample: number,
): Subject {
  const calls = shape.turns * (shape.callsPerTurn ?? 1);
  const runs = Math.max(1, Math.round(callsPerSample / calls));
  return {
    name,
    ...(against === undefined ? {} : { against }),
    operations: runs * calls,
    prepare() {
      const prepared = Array.from({ length: runs }, () => prepareRun(shape));
      return async () => {
        for (const run of prepared) await run();
      };
    },
  };
}
