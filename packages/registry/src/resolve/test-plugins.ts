import {
  definePack,
  definePlugin,
  defineTool,
  type JsonObject,
  type Pack,
  type Plugin,
  type PluginContributions,
  type Policy,
  type PolicyContext,
  type PreparedCall,
  type Section,
  type Tool,
} from '@holdfast/core';
import type { PluginCommand } from '@holdfast/core/types';
import { callBudget } from '@holdfast/policy';
import { jsonSchema } from '@holdfast/schema/json';
import type { Registry } from './types.ts';

/** Building blocks for the plugin tests. */

export function toolNamed(name: string): Tool {
  return defineTool({ name, description: `Says ${name}.`, effects: 'state', execute: () => name });
}

export function commandNamed(name: string): PluginCommand {
  return { name, description: `Runs ${name}.`, run: () => 0 };
}

export function pluginNamed(name: string, contributions: PluginContributions = {}, version = '1.0.0'): Plugin {
  return definePlugin({ name, version, description: `About ${name}.`, holdfast: '>=0.0.0', ...contributions });
}

/** A plugin that only has tools. */
export function pluginOf(name: string, ...tools: readonly string[]): Plugin {
  return pluginNamed(name, { tools: tools.map(toolNamed) });
}

export function sectionOf(key: string, parts: Partial<Section> = {}): Section {
  const empty = {
    params: undefined,
    defaults: {},
    summary: undefined,
    visibility: 'full',
    acceptsOverrides: true,
  } as const;
  const lists = { children: [], tools: [], policies: [], taskExamples: [], slices: [] };
  return { title: key, key, template: 'Text.', ...empty, ...lists, ...parts };
}

const budgetSchema = { type: 'object', properties: { maxCalls: { type: 'integer', minimum: 1 } } } satisfies JsonObject;

export const budget: Pack<{ readonly maxCalls?: number }> = definePack({
  name: 'budget',
  version: '1.2.3',
  description: 'Not too many calls.',
  configSchema: jsonSchema<{ readonly maxCalls?: number }>(budgetSchema),
  presets: {
    recommended: { description: 'Ten.', config: { maxCalls: 10 } },
    strict: { description: 'One.', config: { maxCalls: 1 } },
  },
  policies: ({ maxCalls = 100 }) => [callBudget({ maxCalls })],
});

export function namesOf(registry: Registry): readonly string[] {
  return registry.tools.map(({ name }) => name);
}

export function callOf(tool: Tool | string): PreparedCall {
  return { id: 'c1', tool: typeof tool === 'string' ? toolNamed(tool) : tool, input: {} };
}

/** A policy that denies everything and records every name it sees. */
export function denying(id: string, seen: string[] = [], tools: readonly string[] = []): Policy {
  return {
    name: 'denying',
    id,
    mentions: tools,
    state: undefined,
    check: ({ tool }) => {
      seen.push(tool.name);
      return { type: 'deny', reason: tool.name };
    },
    onResult: ({ tool }) => {
      seen.push(`${tool.name}!`);
      return undefined;
    },
  };
}

/** For policies without state. */
export const noContext: PolicyContext = {
  state: undefined,
  session: {
    read: (): never => {
      throw new Error('nothing is read here');
    },
  },
  filesystem: undefined,
  deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
};
