import { defineTool, type Json, type JsonObject, type Outcome, type Policy, type Tool } from '@holdfast/core';
import { executeToolCall, type Suspended } from '@holdfast/executor';
import { provenance } from '@holdfast/pack-provenance';
import { packPolicies } from '@holdfast/policy';
import { createSession, type Session } from '@holdfast/session';
import * as v from 'valibot';

const answering = (name: string, more: Partial<Pick<Tool, 'outputSchema'>> = {}) =>
  defineTool({
    name,
    description: 'Answers with its argument.',
    inputSchema: v.looseObject({ answer: v.optional(v.unknown()) }),
    ...(more as object),
    effects: 'none',
    execute: ({ answer = null }) => answer as Json,
  }) as Tool;
const acting = (name: string) =>
  defineTool({
    name,
    description: 'Acts.',
    inputSchema: v.looseObject({}),
    effects: 'state',
    execute: () => 'done',
  }) as Tool;
const person = v.object({
  name: v.string(),
  note: v.pipe(v.string(), v.metadata({ untrusted: true })),
  email: v.string(),
  notes: v.optional(v.pipe(v.record(v.string(), v.string()), v.metadata({ untrusted: true }))),
});
export const tools: readonly Tool[] = [
  answering('read_mail'),
  answering('find_person', { outputSchema: person }),
  answering('list_ids'),
  answering('find_ids'),
  acting('send_mail'),
  acting('delete_file'),
];
export const config: JsonObject = {
  trusted: { find_person: ['*'], list_ids: ['id', 'people.email'] },
  tools: {
    send_mail: { decides: { to: 'address' }, words: ['send', 'mail*'] },
    delete_file: { decides: { id: 'id' }, words: ['delete'] },
  },
};

/** A call: its tool, and its arguments. */
export type Step = readonly [string, JsonObject];

/** The settings of a test's run; the rest is usual. */
export interface Told {
  readonly request?: string;
  readonly preset?: string;
  readonly config?: JsonObject;
  readonly session?: Session;
}

let calls = 0;

/** Runs the calls in one session; the last outcome. */
export async function run(steps: readonly Step[], told: Told = {}): Promise<Outcome | Suspended | undefined> {
  const {
    request = 'Send a mail to bob@example.com, and delete file 13.',
    preset = 'values',
    session = createSession(),
  } = told;
  const policies: readonly Policy[] = packPolicies(provenance, { preset, config: { ...config, ...told.config } });
  let last: Outcome | Suspended | undefined;
  for (const [name, input] of steps) {
    calls += 1;
    const call = { id: `call-${calls}`, name, arguments: input };
    last = await executeToolCall(call, { tools, session, policies, request, unattended: true });
  }
  return last;
}

export const read = (answer: Json): Step => ['read_mail', { answer }];
export const send = (to: Json): Step => ['send_mail', { to }];
export const remove = (id: Json): Step => ['delete_file', { id }];
export const found = (answer: JsonObject): Step => [
  'find_person',
  { answer: { name: 'Ann', note: '', email: 'ann@example.com', ...answer } },
];
