import { isPlainObject } from '@holdfast/core/internal';
import { formatArguments } from '../calls/line.ts';

/** Records of the guard and of MCP servers that belong to no stage of a call. */
export type ShownMcpRecord =
  | {
      readonly type: 'guard-kept';
      readonly callId: string;
      readonly files: number;
      readonly left: readonly string[];
    }
  | { readonly type: 'guard-undone'; readonly callId: string; readonly files: readonly string[] }
  | {
      readonly type: 'guard-noted';
      readonly server: string;
      readonly tool: string;
      readonly decidedIn: string;
    }
  | { readonly type: 'mcp-trace'; readonly callId: string; readonly traceparent: string }
  | { readonly type: 'mcp-question'; readonly server: string; readonly message: string; readonly action: string }
  | {
      readonly type: 'mcp-refused';
      readonly reason: string;
      readonly server?: string | undefined;
      readonly method?: string | undefined;
      readonly name?: string | undefined;
      readonly count?: number | undefined;
      readonly last?: boolean | undefined;
    };

/** One line for a record; its texts are not made printable. */
export function describeMcpRecord(record: ShownMcpRecord): string {
  switch (record.type) {
    case 'guard-kept':
      return `${record.files} files kept before the call ${record.callId}${record.left.map((why) => `; not kept: ${why}`).join('')}`;
    case 'guard-undone':
      return `undo of the call ${record.callId}: ${record.files.join(', ')}`;
    case 'guard-noted':
      return `\`${record.tool}\` of the MCP server \`${record.server}\`: decided and recorded in the session ${record.decidedIn}`;
    case 'mcp-trace':
      return `the call ${record.callId} is in the trace ${record.traceparent.split('-')[1] ?? ''} of its client`;
    case 'mcp-question':
      return `the MCP server \`${record.server}\` asked the user, who answered ${record.action}: ${record.message}`;
    case 'mcp-refused':
      return `refused: ${describeRefusal(record)}${record.last === true ? '; further ones are not recorded' : ''}`;
    default:
      return record satisfies never;
  }
}

/** One line for an event; its texts are not made printable. The guard's decisions are told, other events shown. */
export function describeEvent({ type, payload }: { readonly type: string; readonly payload: unknown }): string {
  const { verdict, reason, callId } = isPlainObject(payload) ? payload : {};
  if (type !== 'guard-decided' || typeof verdict !== 'string' || typeof callId !== 'string')
    return `event ${type}  ${formatArguments(payload)}`;
  return `the guard answered ${callId} with ${verdict}${typeof reason === 'string' ? `: ${reason}` : ''}`;
}

function describeRefusal({
  reason,
  server = '?',
  method = '?',
  name = '?',
  count = 1,
}: Extract<ShownMcpRecord, { type: 'mcp-refused' }>): string {
  switch (reason) {
    case 'no-access':
      return `${count === 1 ? '1 request' : `${count} requests`} without access`;
    case 'tool-name':
      return `a call of \`${name}\`, which is served under another name`;
    case 'request-state':
      return `an answer for a call of \`${name}\` whose question is over`;
    default:
      return `${method}, asked for by the MCP server \`${server}\``;
  }
}
