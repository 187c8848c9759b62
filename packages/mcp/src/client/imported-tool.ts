import {
  defineTool,
  HoldfastError,
  isHoldfastError,
  type JsonObject,
  type Tool,
  type ToolContext,
  toolError,
  toolOk,
} from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { describeContent, isErrorResult } from './content.ts';
import { type McpDefinition, readHints, readObject, readText } from './definition.ts';
import { isRelay, relayResource } from './relay.ts';
import { openSchema, resultSchema } from './schemas.ts';

const longestDescription = 4_096;

/** Which of a server's claims count. */
export interface Trust {
  /** `annotations`: hints may loosen as well as tighten. Default: they only tighten. */
  readonly trust?: 'annotations' | undefined;
  /** True if each call needs approval. Default: true, or with `trust: 'annotations'` what the hints say. */
  readonly dangerous?: boolean | undefined;
  /** `declared`: an input schema means what JSON Schema says. Default `closed`: keys that it does not mention are refused. */
  readonly inputs?: 'closed' | 'declared' | undefined;
}

export interface CallTarget {
  readonly server: string;
  /** Connects, and fails when the definition is not the imported one any more. */
  ready(digest: string): Promise<void>;
  call(params: JsonObject, context: ToolContext): Promise<JsonObject>;
}

/** @throws HoldfastError `schema.*` for a schema that cannot be used. */
export function importTool(
  ours: string,
  { name, listed, digest }: McpDefinition,
  target: CallTarget,
  trust: Trust,
): Tool {
  const { server } = target;
  const inputSchema = readObject(listed['inputSchema']) ?? { type: 'object' };
  const outputSchema = readObject(listed['outputSchema']);
  const input = jsonSchema<JsonObject>(trust.inputs === 'declared' ? openSchema(inputSchema) : inputSchema);
  // One bad schema would fail the calls of every tool beside it. A call uses what is compiled here.
  compileSchema(input);
  const { effects, repeat, dangerous } = toEffects(listed, trust);
  return defineTool({
    name: ours,
    description: toDescription(listed, `\`${name}\` of the MCP server \`${server}\`.`),
    inputSchema: input,
    ...(outputSchema === undefined ? {} : { outputSchema: resultSchema(outputSchema) }),
    effects,
    repeat,
    dangerous,
    // A server that cannot be reached has done nothing.
    prepares: true,
    origin: { kind: 'mcp', source: server, digest },
    execute: async (given: JsonObject, context) => {
      await target.ready(digest);
      await context.begin();
      const result = await passOn('tools/call', target.call({ name, arguments: given }, context), context);
      const text = describeContent(result);
      if (isErrorResult(result))
        return toolError(text === '' ? `\`${name}\` failed.` : text, { code: 'mcp.tool_failed' });
      // The text says all that a model should read; images and structure stay in the value.
      return toolOk(result, text, { excludeValueFromContext: text !== '' });
    },
  }) as Tool;
}

/** Hands the result, or the error that the server answered with, to the host that serves it, untouched. */
export async function passOn(
  method: string,
  calling: Promise<JsonObject>,
  { resources, callId }: ToolContext,
): Promise<JsonObject> {
  const relay = resources.get(relayResource);
  if (!isRelay(relay) || relay.method !== method || relay.callId !== callId) return await calling;
  try {
    const result = await calling;
    relay.result = result;
    return result;
  } catch (thrown) {
    if (isHoldfastError(thrown) && thrown.code === 'mcp.error' && thrown.cause instanceof Error)
      relay.error = thrown.cause;
    throw thrown;
  }
}

function toEffects(listed: JsonObject, { trust, dangerous }: Trust): Pick<Tool, 'effects' | 'repeat' | 'dangerous'> {
  const { readOnly, idempotent, destructive } = readHints(listed);
  if (trust !== 'annotations') return { effects: 'external', repeat: 'never', dangerous: dangerous ?? true };
  if (readOnly === true) return { effects: 'none', repeat: 'safe', dangerous: dangerous ?? destructive === true };
  const repeat = idempotent === true ? 'safe' : 'never';
  return { effects: 'external', repeat, dangerous: dangerous ?? destructive !== false };
}

function toDescription({ description, title }: JsonObject, fallback: string): string {
  const text = readText(description) ?? readText(title) ?? fallback;
  return text.length <= longestDescription ? text : `${text.slice(0, longestDescription - 1).trimEnd()}…`;
}

/** The definition that was imported is not the one that the server has now. */
export function changedError(server: string, name: string): HoldfastError {
  return new HoldfastError(
    'mcp.changed',
    `The MCP server \`${server}\` has changed \`${name}\` since it was imported. A person has to look at the change first.`,
    { data: { server, tool: name, denies: true } },
  );
}
