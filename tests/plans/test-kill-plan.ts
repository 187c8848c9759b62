import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { defineTool, type Json, type JsonObject, type Tool, type ToolContext } from '@holdfast/core';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { type CheckedPlan, checkPlan, type RunPlanOptions } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type OpenedLog, replay, type Session } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';

/** The tools' effects on a folder, in order: the name of the tool and the key of its call. */
export function readEffects(folder: string): readonly string[] {
  const path = join(folder, 'effects.txt');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

export interface Life {
  readonly session: Session;
  readonly options: RunPlanOptions;
  readonly plan: CheckedPlan;
}

/** Opens the log of a folder, or begins it. */
export async function openLife(folder: string): Promise<Life> {
  mkdirSync(join(folder, 'files'), { recursive: true });
  const { records, store } = openLog(join(folder, 's.jsonl'));
  const session = records.length === 0 ? createSession({ id: 's', store }) : replay(records, { store });
  const tools = makeTools(folder);
  const found = await checkPlan(plan, { tools });
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  const options = {
    session,
    tools,
    resources: { filesystem: hostFilesystem(join(folder, 'files')) },
    maxConcurrency: 3,
  };
  return { session, options, plan: found.checked };
}

function openLog(path: string): OpenedLog {
  // A few records, and the log goes on in another file.
  const options = { snapshotAfterBytes: 6_000 };
  return existsSync(path) ? openJsonlLog(path, options) : { records: [], store: createJsonlLog(path, options) };
}

const on = { on_fail: 'continue' };
const text = (from: string): JsonObject => ({ text: `after {{STEPS.${from}.done | default: "nothing"}}` });

/** Ten nodes: files, what only reads, and what touches the world in each way. */
const plan = {
  nodes: [
    { id: 'look', tool: 'look', ...on },
    { id: 'first', tool: 'line', ...on, inputs: text('look') },
    { id: 'post', tool: 'post', ...on, inputs: text('look') },
    { id: 'deploy', tool: 'deploy', ...on, inputs: text('look') },
    { id: 'mail', tool: 'mail', ...on, inputs: text('post') },
    { id: 'safe', tool: 'safe', ...on, inputs: text('deploy') },
    { id: 'second', tool: 'line', ...on, inputs: text('first') },
    { id: 'again', tool: 'post', ...on, inputs: text('mail') },
    { id: 'third', tool: 'line', ...on, depends_on: ['second'], inputs: text('again') },
    { id: 'end', tool: 'look', ...on, depends_on: ['third', 'safe'] },
  ],
  final_output_node: 'end',
};

const given = jsonSchema({ type: 'object', properties: { text: { type: 'string' } } });

function makeTools(folder: string): readonly Tool[] {
  // The world takes its time, before and after.
  const touch = async (name: string, key: string): Promise<Json> => {
    await wait(Math.random() * 4);
    appendFileSync(join(folder, 'effects.txt'), `${name} ${key}\n`);
    await wait(Math.random() * 4);
    return { done: name };
  };
  const make = (name: string, more: Partial<Tool>): Tool =>
    defineTool({ name, description: `Does ${name}.`, inputSchema: given, ...more } as never) as Tool;
  const external = (name: string, more: Partial<Tool>): Tool =>
    make(name, {
      ...more,
      effects: 'external',
      execute: (_input, { idempotencyKey }: ToolContext) => touch(name, idempotencyKey) as never,
    });
  return [
    make('look', {
      effects: 'none',
      async execute(_input, { filesystem }: ToolContext) {
        await wait(Math.random() * 2);
        const found = await filesystem?.stat('lines.txt');
        return { done: 'look', found: found?.type ?? null } as never;
      },
    }),
    make('line', {
      effects: 'state',
      async execute(input, { filesystem }: ToolContext) {
        const lines =
          (await filesystem?.stat('lines.txt'))?.type === 'file' ? await filesystem?.readText('lines.txt') : '';
        await wait(Math.random() * 2);
        await filesystem?.write('lines.txt', `${lines ?? ''}${(input as { readonly text: string }).text}\n`);
        return { done: 'line' } as never;
      },
    }),
    external('post', {
      repeat: 'never',
      probe: (_input, { idempotencyKey }) =>
        readEffects(folder).includes(`post ${idempotencyKey}`)
          ? { type: 'done', value: { done: 'post' } }
          : { type: 'not-done' },
    }),
    external('deploy', { repeat: 'never' }),
    external('mail', { repeat: 'keyed' }),
    external('safe', { repeat: 'safe' }),
  ];
}
