import { aiSdkModel } from '@holdfast/adapter-ai-sdk';
import {
  answerApproval,
  append,
  ask,
  createSession,
  definePolicy,
  defineSlice,
  defineTool,
  memoryStore,
  pendingApprovals,
  replay,
  resumeRun,
  runAgent,
} from '@holdfast/kit';
import { z } from 'zod';
import { scriptedModel } from './scripted-model.mjs';

export const name = 'Holdfast';
export const packages = [];
export const without = {};

const staged = defineSlice({ id: 'staged', kind: 'list', reducers: { staged: (_, payload) => append(payload) } });
const rules = {
  asks: () => ask('May it save?'),
  throws() {
    throw new Error('Broken.');
  },
};

export async function run({ save, rule, deadlineMs }, served, stored) {
  const saving = defineTool({
    name: 'save',
    description: 'Save a text.',
    inputSchema: z.object({ text: z.string() }),
    effects: 'external',
    repeat: 'never',
    timeoutMs: deadlineMs,
    execute: ({ text }, { session }) => save(text, (added) => session.dispatch({ type: 'staged', payload: added })),
  });
  const store = stored?.store ?? memoryStore();
  const session = stored
    ? replay(store.records, { store, slices: [staged] })
    : createSession({ store, slices: [staged] });
  const agent = {
    model: aiSdkModel(scriptedModel(served)),
    instructions: 'Help.',
    tools: [saving],
    policies: rule ? [definePolicy({ name: rule, check: rules[rule] })] : [],
    session,
  };
  for (const question of pendingApprovals(session)) await answerApproval(session, question, { type: 'approve' });
  await (stored ? resumeRun(agent) : runAgent({ ...agent, input: 'Go.' }));
  return { staged: [...session.read(staged)], waiting: { store } };
}
