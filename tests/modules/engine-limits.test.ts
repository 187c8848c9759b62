import type { Model, ModelEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { startEngine } from './test-engine.ts';
import { moduleFiles } from './test-module-texts.ts';

test('a model is told how long an invoke has, and nothing is left of it behind the answer', async () => {
  const remaining: (number | undefined)[] = [];
  const model: Model = {
    id: 'test:looking',
    async *stream({ deadline }): AsyncGenerator<ModelEvent> {
      remaining.push(deadline?.remainingMs());
      yield { type: 'text-delta', text: '[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]' };
      yield { type: 'finish', reason: 'stop' };
    },
  };
  const { engine, clock } = await startEngine(moduleFiles(['a']), { model, timeoutMs: 1_000 });
  await engine.invoke('a', { question: 'which?' });
  await engine.invoke('a', { question: 'which?' }, { timeoutMs: 400 });
  expect([remaining, clock.pending]).toEqual([[1_000, 400], 0]);
});

test('what a model throws is not told at any length', async () => {
  const model: Model = {
    id: 'test:loud',
    stream() {
      throw new Error('x'.repeat(1_000_000));
    },
  };
  const { engine } = await startEngine(moduleFiles(['a']), { model });
  const error: unknown = await engine.invoke('a', { question: 'which?' }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'modules.failed', reason: 'model' });
  expect((error as Error).message.length).toBeLessThan(2_200);
});
