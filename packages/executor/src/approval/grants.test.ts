import { type ApprovalAnswer, defineTool } from '@holdfast/core';
import { createSession, memoryStore, replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import { outcomeOf } from '../fixtures.ts';
import { executeToolCall, listGrants, withdrawGrant } from '../index.ts';

const wipe = defineTool({ name: 'wipe', description: 'Wipes.', effects: 'state', dangerous: true, execute: () => 1 });
const tools = [wipe];
const call = { name: 'wipe', arguments: '' };
const approve = (): ApprovalAnswer => ({ type: 'approve', grant: true });

test('a snapshot from before a grant was withdrawn does not bring it back, live or by replay', async () => {
  const store = memoryStore();
  const session = createSession({ store });
  await outcomeOf(call, { tools, session, approve });
  const before = session.snapshot();
  expect(listGrants(session).map(({ name }) => name)).toEqual(['wipe']);
  session.restore(before);
  expect(listGrants(session)).toHaveLength(1);
  withdrawGrant(session, 'wipe');
  session.restore(before);
  expect(listGrants(session)).toEqual([]);
  expect(await executeToolCall(call, { tools, session })).toMatchObject({ kind: 'suspended' });
  expect(listGrants(replay(store.records))).toEqual([]);
});

test('`import` brings no grants along, and takes none away', async () => {
  const granting = createSession();
  await outcomeOf(call, { tools, session: granting, approve });
  const exported = granting.export();
  expect(JSON.stringify(exported)).toContain('wipe');

  const store = memoryStore();
  const other = createSession({ store });
  other.import(exported);
  expect(listGrants(other)).toEqual([]);
  await outcomeOf(call, { tools, session: other, approve });
  other.import(createSession().export());
  expect(listGrants(other)).toHaveLength(1);
  expect(listGrants(replay(store.records))).toEqual(listGrants(other));
});
