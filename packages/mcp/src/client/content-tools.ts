import { defineTool, type JsonObject, type Tool, type ToolContext, toolOk } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { describeContent } from './content.ts';
import { passOn, type Trust } from './imported-tool.ts';

/** A request of the protocol that reads something, as a tool: what it brings can carry instructions, as a tool's result can. */
interface ContentTool {
  readonly tool: string;
  readonly method: string;
  readonly of: 'resources' | 'prompts';
  readonly description: string;
  readonly input: JsonObject;
}

const cursor = { cursor: { type: 'string', description: 'From the page before' } };
const uri = { uri: { type: 'string', minLength: 1, maxLength: 8_192 } };
const name = { name: { type: 'string', minLength: 1, maxLength: 1_024 } };
const text = { arguments: { type: 'object', additionalProperties: { type: 'string' } } };

/** In the order in which they are offered. */
const contentTools: readonly ContentTool[] = [
  {
    tool: 'list_resources',
    method: 'resources/list',
    of: 'resources',
    description: 'List the resources',
    input: { type: 'object', properties: cursor },
  },
  {
    tool: 'read_resource',
    method: 'resources/read',
    of: 'resources',
    description: 'Read one resource',
    input: { type: 'object', properties: uri, required: ['uri'] },
  },
  {
    tool: 'list_prompts',
    method: 'prompts/list',
    of: 'prompts',
    description: 'List the prompts',
    input: { type: 'object', properties: cursor },
  },
  {
    tool: 'get_prompt',
    method: 'prompts/get',
    of: 'prompts',
    description: 'Fill in one prompt',
    input: { type: 'object', properties: { ...name, ...text }, required: ['name'] },
  },
];

export interface ContentTarget {
  readonly server: string;
  /** Connects, and fails for what a person has not seen. */
  ready(method: string, input: JsonObject): Promise<void>;
  request(method: string, params: JsonObject, context: ToolContext): Promise<JsonObject>;
}

/** The tools for what the server offers, by the names that policies see: `files_read_resource`. */
export function importContent(target: ContentTarget, capabilities: ServerCapabilities, trust: Trust): readonly Tool[] {
  const { server } = target;
  return contentTools
    .filter(({ of }) => capabilities[of] !== undefined)
    .map(({ tool, method, description, input }) => {
      return defineTool({
        name: `${server}_${tool}`,
        description: `${description} of the MCP server \`${server}\`.`,
        inputSchema: jsonSchema<JsonObject>(input),
        effects: 'external',
        // By the protocol these only read; that a server keeps to it is a matter of trust.
        repeat: trust.trust === 'annotations' ? 'safe' : 'never',
        dangerous: trust.dangerous ?? trust.trust !== 'annotations',
        prepares: true,
        origin: { kind: 'mcp', source: server },
        execute: async (given: JsonObject, context) => {
          await target.ready(method, given);
          await context.begin();
          const result = await passOn(method, target.request(method, given, context), context);
          const read = describeContent(result);
          return toolOk(result, read, { excludeValueFromContext: read !== '' });
        },
      }) as Tool;
    });
}
