import type { JsonObject, Outcome, Tool } from '@holdfast/core';
import { isPlainObject, toReason } from '@holdfast/core/internal';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { outputSchemaOf } from './declare-tools.ts';

/** Where a result says how the call ended, beside its text. */
const outcomeKey = 'holdfast/outcome';

/** The result for a client of a call of our own tool, or of one that did not get an answer. */
export function toCallResult({ kind, code, reason, text, value }: Outcome, tool: Tool | undefined): CallToolResult {
  if (kind !== 'ok')
    return errorResult(text, { kind, ...(code === undefined ? {} : { code }), ...toReason({ reason }) });
  const structured = tool !== undefined && outputSchemaOf(tool) !== undefined && isPlainObject(value);
  return {
    content: [{ type: 'text', text }],
    ...(structured ? { structuredContent: value as Record<string, unknown> } : {}),
  };
}

export function errorResult(text: string, outcome: JsonObject): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true, _meta: { [outcomeKey]: outcome } };
}

/** True if the client gets the result of the other server. It does not get one that was not accepted, such as one that breaks its schema. */
export function isPassedOn({ kind, code }: Outcome): boolean {
  return kind === 'ok' || (kind === 'failed' && code === 'mcp.tool_failed');
}
