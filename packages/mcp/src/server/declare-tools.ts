import {
  allow,
  definePolicy,
  defineTool,
  deny,
  type JsonObject,
  type Policy,
  type Tool,
  toolError,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import type { McpDefinition } from '../client/definition.ts';
import type { McpTools } from '../client/imported.ts';
import { toToolName } from '../client/names.ts';

/** A server that is not started, such as one that was never looked at. */
export interface HeldServer {
  /** Our name for it. */
  readonly name: string;
  /** Of the denial of every call: `mcp.unpinned`, `mcp.changed`. */
  readonly code: string;
  /** Why, and what a person can do. The client gets it as the server's instructions. */
  readonly message: string;
}

/** Tools to serve, with the original definitions of those that came from another server. `mcpTools` returns one. */
export interface ServedTools {
  readonly tools: readonly Tool[];
  readonly definitions?: ReadonlyMap<string, McpDefinition>;
  /** Not offered; calls of them are denied as `mcp.changed`, and recorded. */
  readonly withheld?: readonly Tool[];
  /** True for a call of what a person has not seen: denied likewise. */
  withholds?(tool: string, input: JsonObject): boolean;
  /** Nothing is offered, and every call is denied and recorded. */
  readonly held?: HeldServer;
  /** Calls `listener` after `tools` has changed. */
  onChange?(listener: () => void): () => void;
}

const noInput: JsonObject = { type: 'object', additionalProperties: false };

/** A tool as a client lists it: one of another server under its own name there, as that server lists it. */
export function declareTool(tool: Tool, definition: McpDefinition | undefined): JsonObject {
  if (definition !== undefined) return definition.listed;
  const { name, description, inputSchema, effects, repeat, dangerous } = tool;
  const output = outputSchemaOf(tool);
  return {
    name,
    description,
    inputSchema: inputSchema === undefined ? noInput : compileSchema(inputSchema).jsonSchema,
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: {
      readOnlyHint: effects === 'none',
      idempotentHint: repeat !== 'never',
      destructiveHint: dangerous,
      openWorldHint: effects === 'external',
    },
  };
}

/** The protocol takes objects alone as structured output. */
export function outputSchemaOf({ outputSchema }: Tool): JsonObject | undefined {
  const schema = outputSchema === undefined ? undefined : compileSchema(outputSchema).jsonSchema;
  return schema?.['type'] === 'object' ? schema : undefined;
}

/** The tools that a client lists and calls. A relayed server's resources and prompts stay what they are, and are read by their own requests. */
export function listOffered(served: ServedTools): readonly Tool[] {
  if (!isMcpTools(served)) return served.tools;
  return served.tools.filter(({ name }) => served.definitions.has(name));
}

/** Our name for a tool by the name under which it is served. */
export function findServed(served: ServedTools, asked: string): string | undefined {
  const { definitions, held } = served;
  if (held !== undefined) return toToolName(held.name, asked);
  for (const [ours, { name }] of definitions ?? []) if (name === asked) return ours;
  return listOffered(served).some(({ name }) => name === asked) && !definitions?.has(asked) ? asked : undefined;
}

export function isMcpTools(served: ServedTools): served is McpTools {
  return 'server' in served && 'request' in served;
}

/** Stands for any tool of a server that is held back. */
export function toHeldTool(name: string): Tool {
  return defineTool({
    name,
    description: 'A tool of a server that is held back.',
    inputSchema: jsonSchema<JsonObject>({ type: 'object', additionalProperties: true }),
    effects: 'external',
    // A policy denies it before.
    execute: () => toolError('The server is held back.'),
  }) as Tool;
}

/** Denies calls of withheld tools before anybody is asked about them. */
export function denyWithheld(served: ServedTools): readonly Policy[] {
  const { held } = served;
  if (held !== undefined)
    return [definePolicy({ name: 'mcp-pins', check: () => deny(held.message, { code: held.code }) })];
  if (served.withheld === undefined && served.withholds === undefined) return [];
  const check: Policy['check'] = ({ tool, input }) => {
    const isWithheld =
      served.withheld?.some(({ name }) => name === tool.name) === true ||
      served.withholds?.(tool.name, isPlainObject(input) ? (input as JsonObject) : {}) === true;
    if (!isWithheld) return allow;
    const message = `\`${tool.name}\` would use what a person has not seen like this. A person has to look at the change first.`;
    return deny(message, { code: 'mcp.changed' });
  };
  return [definePolicy({ name: 'mcp-pins', check })];
}
