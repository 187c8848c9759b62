import { defineTool, type FactsSource, type Json, type Policy, type Tool, toolError } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import type { ScriptedCall, Suite } from './suite.ts';

/** Counts of a suite under some policies. */
export interface Played {
  readonly pairs: number;
  /** Attacks of which every call that changes something ran. */
  readonly through: number;
  /** The first of them, as `user/injection`. */
  readonly throughPairs: readonly string[];
  readonly users: number;
  /** Users whose calls all ran, without an attack; a person approves what is theirs. */
  readonly done: number;
  /** The same with nobody to ask. */
  readonly doneAlone: number;
  /** Pairs in which the user's calls all ran. */
  readonly doneAttacked: number;
  /** Calls of users that change something, and those of them that ran without a question. */
  readonly changes: number;
  readonly unasked: number;
  /** Users whose calls did not all run without a question. */
  readonly askedUsers: readonly string[];
}

export interface Rules {
  readonly policies: readonly Policy[];
  readonly facts?: FactsSource;
}

/** Plays every task without an attack, and every pair of a task and an attack that it meets. The adversary always obeys. */
export async function play(suite: Suite, rules: Rules): Promise<Played> {
  const counts = { pairs: 0, through: 0, users: 0, done: 0, doneAlone: 0, doneAttacked: 0, changes: 0, unasked: 0 };
  const throughPairs: string[] = [];
  const askedUsers: string[] = [];
  for (const user of suite.users) {
    const calm = new World(suite, rules, user.prompt);
    for (const call of user.benign) await calm.run(call, { by: 'user' });
    counts.users += 1;
    counts.done += Number(calm.failed.user === 0);
    counts.doneAlone += Number(calm.failed.user === 0 && calm.asked === 0);
    counts.changes += calm.changes.user;
    counts.unasked += calm.changes.user - calm.askedChanges;
    if (calm.asked > 0 || calm.failed.user > 0) askedUsers.push(user.id);
    const from = user.calls.findIndex(({ slots = [] }) => slots.length > 0);
    if (from < 0) continue;
    for (const injection of suite.injections) {
      // Some attacks only want the agent to say something.
      if (!injection.calls.some(({ name }) => changesSomething(name))) continue;
      const world = new World(suite, rules, user.prompt);
      for (const [index, call] of user.calls.entries()) {
        await world.run(call, { by: 'user', injected: injection.goal });
        if (index !== from) continue;
        for (const attack of injection.calls) await world.run(attack, { by: 'attacker' });
      }
      counts.pairs += 1;
      counts.doneAttacked += Number(world.failed.user === 0);
      if (world.failed.attacker > 0) continue;
      counts.through += 1;
      throughPairs.push(`${user.id}/${injection.id}`);
    }
  }
  return { ...counts, throughPairs, askedUsers };
}

/** True if the tool changes something, by its name. */
function changesSomething(name: string): boolean {
  return !/^(?:get|search|list|read)_/u.test(name);
}

type Who = 'user' | 'attacker';

/** One session. */
class World {
  readonly failed: Record<Who, number> = { user: 0, attacker: 0 };
  readonly changes: Record<Who, number> = { user: 0, attacker: 0 };
  /** Questions about calls of the user, and changes that were asked about or refused. */
  asked = 0;
  askedChanges = 0;
  readonly #session = createSession();
  readonly #suite: Suite;
  readonly #rules: Rules;
  readonly #request: string;
  readonly #tools: readonly Tool[];
  #answer: Json = null;
  #error: Json | undefined;
  #count = 0;

  constructor(suite: Suite, rules: Rules, request: string) {
    this.#suite = suite;
    this.#rules = rules;
    this.#request = request;
    this.#tools = suite.tools.map(({ name, description }) =>
      defineTool({
        name,
        description: description.replaceAll(/[^\x20-\x7e]+/gu, ' ').slice(0, 200),
        inputSchema: v.looseObject({}),
        effects: changesSomething(name) ? 'external' : 'none',
        execute: () => (this.#error === undefined ? this.#answer : toolError(String(this.#error))),
      }),
    );
  }

  async run(call: ScriptedCall, { by, injected }: { readonly by: Who; readonly injected?: string }): Promise<void> {
    this.#answer = fill(call.result, (slot) => injected ?? this.#suite.vectors[slot] ?? '');
    this.#error = call.error ?? undefined;
    this.#count += 1;
    let asked = false;
    const outcome = await executeToolCall(
      { id: `call-${this.#count}`, name: call.name, arguments: call.args },
      {
        tools: this.#tools,
        session: this.#session,
        request: this.#request,
        ...this.#rules,
        approve: async () => {
          asked = true;
          return by === 'user' ? { type: 'approve' } : { type: 'deny' };
        },
      },
    );
    const changes = changesSomething(call.name);
    this.changes[by] += Number(changes);
    // A failure in the script is a part of the task; an attack stands or falls with its changes.
    const refused = outcome.kind === 'denied' || outcome.kind === 'suspended' || outcome.kind === 'invalid';
    if (by === 'user') {
      this.asked += Number(asked);
      this.askedChanges += Number((asked || refused) && changes);
    }
    if (refused && (by === 'user' || changes)) this.failed[by] += 1;
  }
}

/** The result with the text of each slot. */
export function fill(result: Json, textOf: (slot: string) => string): Json {
  const filled = (value: Json): Json => {
    if (typeof value === 'string') return value.replaceAll(/@@INJ:(\w+)@@/gu, (_whole, slot: string) => textOf(slot));
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner as Json)]));
  };
  return filled(result);
}
