import {
  type CallFacts,
  defineTool,
  type FactsSource,
  type PlaceView,
  type PreparedCall,
  type Tool,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { type CallOptions, executeToolCall } from './index.ts';

export const nothing: CallFacts = {
  runs: [],
  reads: [],
  writes: [],
  deletes: [],
  hosts: [],
  untrusted: false,
  unclear: [],
};
export const view: PlaceView = { folder: '/w', workspace: '/w' };

export interface Counted extends FactsSource {
  readonly described: PreparedCall[];
  readonly views: PlaceView[];
}

/** A facts source whose reads and writes are given by the input. */
export function source(facts: (input: { readonly path?: string }) => Partial<CallFacts> = () => ({})): Counted {
  const described: PreparedCall[] = [];
  const views: PlaceView[] = [];
  return {
    view,
    described,
    views,
    describe(prepared, seen) {
      described.push(prepared);
      views.push(seen);
      return { ...nothing, ...facts(prepared.input as { readonly path?: string }) };
    },
  };
}

export const file = (path: string): { readonly path: string; readonly inside: boolean } => ({ path, inside: true });
const inputSchema = jsonSchema({ type: 'object', additionalProperties: true });

export function tool(name: string, effects: Tool['effects'] = 'external', execute: Tool['execute'] = () => null): Tool {
  return defineTool({ name, description: 'Acts.', inputSchema, effects, execute } as never) as Tool;
}

export const tools: readonly Tool[] = [tool('act'), tool('look', 'none')];
export async function kindOf(name: string, input: object, options: CallOptions): Promise<string> {
  return (await executeToolCall({ id: 'c', name, arguments: input }, options)).kind;
}
