import { allow, ask, definePolicy, deny, type Policy } from '@holdfast/core';
import { createFacts, fileFacts } from '@holdfast/facts';
import { createGuard, decisions, type ReleasingGuard } from '@holdfast/guard';
import { createSession, type LogRecord, memoryStore, replay, type Session } from '@holdfast/session';
import type { Body, Given, ModelCall, Ran, Turn } from './driver.ts';

export const asking: Policy = definePolicy({
  name: 'asking',
  check: ({ tool }) => (tool.name === 'pay' ? ask('May it pay?') : allow),
});
export const denying: Policy = definePolicy({ name: 'denying', check: () => deny('The desk is closed.') });

/** By facts, since the files are not ours. */
export const readFirst: Policy = definePolicy<readonly string[]>({
  name: 'read-first',
  initialState: [],
  check: ({ facts }, { state }) =>
    facts?.writes.every(({ path }) => state.includes(path)) === true ? allow : deny('Read it first.'),
  onResult: ({ facts }, _result, { state }) => [...state, ...(facts?.reads.map(({ path }) => path) ?? [])],
});

export interface World {
  readonly guard: ReleasingGuard;
  readonly session: Session;
  readonly ran: string[];
  readonly tools: Readonly<Record<string, Body>>;
  ends(): readonly LogRecord[];
  /** The number of records. */
  written(): number;
  /** The guard of another process. */
  again(): { readonly guard: ReleasingGuard; readonly session: Session };
}

export function world(policies: readonly Policy[] = []): World {
  const store = memoryStore();
  const facts = createFacts({ describers: [fileFacts()], view: { folder: '/w', workspace: '/w' } });
  const session = createSession({ store, slices: [decisions] });
  const open = (live: Session): ReleasingGuard => createGuard({ session: live, policies, facts });
  const ran: string[] = [];
  const body =
    (name: string): Body =>
    (input) => {
      ran.push(`${name} ${JSON.stringify(input)}`);
      return { done: name };
    };
  return {
    session,
    guard: open(session),
    ran,
    tools: Object.fromEntries(['pay', 'ship', 'read', 'write'].map((name) => [name, body(name)])),
    ends: () => store.records.filter(({ type }) => type === 'tool-call-end'),
    written: () => store.records.length,
    again() {
      const live = replay(store.records, { store, slices: [decisions] });
      return { session: live, guard: open(live) };
    },
  };
}

export const pay = (id = 'call-1', order = 17): ModelCall => ({ id, name: 'pay', input: { order } });
export const ship = (id: string): ModelCall => ({ id, name: 'ship', input: { order: 17 } });
export const at = (id: string, name: string): ModelCall => ({ id, name, input: { path: '/w/a.txt' } });

/** A model that makes these calls, one message after the other. */
export function script(...turns: readonly Turn[]): Given['model'] {
  return (index) => turns[index] ?? 'Done.';
}

export function read(ran: Ran): Readonly<Record<string, string>> {
  if (ran.type === 'asked') throw new Error(`It asks about ${ran.ids.join()}.`);
  return ran.read;
}

export function asked(ran: Ran): Extract<Ran, { type: 'asked' }> {
  if (ran.type === 'done') throw new Error(`It did not ask: ${JSON.stringify(ran.read)}`);
  return ran;
}
