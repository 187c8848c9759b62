import {
  defineTool,
  type Filesystem,
  type FilesystemReader,
  type Json,
  type JsonObject,
  type ModelUsage,
  type Planner,
  type StagedResource,
  type Tool,
} from '@holdfast/core';
import { type CallOptions, executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { type CheckedPlan, checkPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type MemoryStore, memoryStore, type Session } from '@holdfast/session';

/** Nodes of a plan, whose last one is the final one. */
export type Nodes = readonly JsonObject[];

export interface TestPlanner extends Planner {
  /** The requests that it was asked for, in that order. */
  readonly asked: string[];
}

/** Has a plan, or another answer, for each request. Takes 10 tokens each time, or `usage`. */
export function plannerOf(
  plans: Readonly<Record<string, Nodes | string>>,
  usage: ModelUsage = { inputTokens: 6, outputTokens: 4 },
): TestPlanner {
  const known = new Map(Object.entries(plans));
  const asked: string[] = [];
  return {
    id: 'known-plans',
    asked,
    async plan({ request }) {
      asked.push(request);
      const found = known.get(request);
      if (found === undefined) throw new Error(`There is no answer for \`${request}\`.`);
      if (typeof found === 'string') return { text: found, usage };
      return { text: JSON.stringify(planOf(...found)), usage };
    },
  };
}

export function planOf(...nodes: Nodes): JsonObject {
  return { status: 'success', nodes, final_output_node: nodes.at(-1)?.['id'] ?? 0 };
}

export async function checkedOf(tools: readonly Tool[], ...nodes: Nodes): Promise<CheckedPlan> {
  const found = await checkPlan(planOf(...nodes), { tools });
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  return found.checked;
}

export const say: Tool = defineTool({
  name: 'say',
  description: 'Says it.',
  effects: 'none',
  inputSchema: jsonSchema<{ readonly text: Json }>({ type: 'object', properties: { text: {} }, required: ['text'] }),
  execute: ({ text }) => text,
});

/** Notes its text in a file, and fails after that if it is `bad`. */
export const write: Tool = defineTool({
  name: 'write',
  description: 'Writes a file of its own.',
  effects: 'state',
  inputSchema: jsonSchema<{ readonly path: string; readonly bad?: boolean }>({
    type: 'object',
    properties: { path: { type: 'string' }, bad: { type: 'boolean' } },
    required: ['path'],
  }),
  async execute({ path, bad }, { filesystem }) {
    await filesystem?.write(path, path);
    if (bad === true) throw new Error('The disk is full.');
    return path;
  },
});

export const fail: Tool = defineTool({
  name: 'fail',
  description: 'Fails.',
  effects: 'none',
  execute: () => {
    throw new Error('It does not work.');
  },
});

export interface World {
  readonly session: Session;
  readonly store: MemoryStore;
  readonly files: StagedResource<Filesystem, FilesystemReader>;
  /** The final state. */
  written(): Promise<readonly string[]>;
  call(tool: Tool, input: unknown, options?: Partial<CallOptions>): ReturnType<typeof executeToolCall>;
}

export function world(): World {
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const files = memoryFilesystem();
  return {
    session,
    store,
    files,
    async written() {
      return (await files.readOnly.list('')).map(({ name }) => name).toSorted();
    },
    call: (tool, input, options = {}) =>
      executeToolCall(
        { id: 'top', name: tool.name, arguments: input },
        { tools: [tool], session, resources: { filesystem: files }, ...options },
      ),
  };
}
