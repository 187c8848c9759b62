import {
  type ApprovalAnswer,
  ask,
  definePolicy,
  defineTool,
  type Outcome,
  type Policy,
  type Tool,
} from '@holdfast/core';
import { createSession, type MemoryStore, memoryStore, replay, type Session } from '@holdfast/session';
import * as v from 'valibot';
import { notes, testClock } from './fixtures.ts';
import { type CallOptions, executeToolCall, type Suspended } from './index.ts';

export type Probe = NonNullable<Tool['probe']>;

export interface World {
  readonly effects: string[];
  readonly keys: string[];
}

export function sending(world: World, extra: Partial<Tool> = {}): Tool {
  return defineTool({
    name: 'send',
    description: 'Sends a mail.',
    inputSchema: v.object({ to: v.string() }),
    ...(extra as object),
    execute({ to }, { idempotencyKey }) {
      world.effects.push(to);
      world.keys.push(idempotencyKey);
      return { sent: to };
    },
  }) as Tool;
}

export const asking = (name: string, when: () => boolean = () => true): Policy =>
  definePolicy({ name, check: () => (when() ? ask(`${name} wants to know.`) : { type: 'allow' }) });

/** A session whose process can end: `reopen` opens it in a new one. */
export interface Life {
  readonly clock: ReturnType<typeof testClock>;
  readonly session: Session;
  readonly store: MemoryStore;
  reopen(): Session;
}

export function life(store: MemoryStore = memoryStore()): Life {
  const clock = testClock();
  const session = createSession({ id: 's', slices: [notes], store, clock });
  const reopen = (): Session => replay(store.records, { slices: [notes], store, clock });
  return { clock, session, store, reopen };
}

export const mail = { id: 'm', name: 'send', arguments: { to: 'ada' } };
export const kindOf = ({ kind }: Outcome | Suspended): string => kind;
export const yes: ApprovalAnswer = { type: 'approve' };

/** Begins a call in a process that ends while the tool runs. */
export async function dieUnder(
  tool: (world: World) => Tool,
  world: World,
): Promise<
  Life & { readonly options: Pick<CallOptions, 'tools' | 'session' | 'clock'> & { readonly session: Session } }
> {
  const parts = life();
  const dying = defineTool({
    ...(tool(world) as object),
    timeoutMs: undefined,
    name: 'send',
    description: 'Sends a mail.',
    execute(_input: unknown, { idempotencyKey }: { idempotencyKey: string }) {
      world.keys.push(idempotencyKey);
      return new Promise(() => undefined);
    },
  } as unknown as Parameters<typeof defineTool>[0]) as Tool;
  const approve = () => yes;
  void executeToolCall(mail, { tools: [dying], session: parts.session, clock: parts.clock, approve });
  for (let round = 0; round < 10_000 && world.keys.length === 0; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const session = parts.reopen();
  return { ...parts, session, options: { tools: [tool(world)], session, clock: parts.clock } };
}
