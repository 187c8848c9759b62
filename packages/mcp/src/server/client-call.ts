import { hash } from 'node:crypto';
import type { JsonObject } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import type { OpenCall } from '@holdfast/session/internal';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { RelayServer } from './relay-server.ts';

/** A call as a client asks for it. */
export interface ClientCall {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get';
  /** Our name for the tool; `undefined` for one that is not served. */
  readonly tool: string | undefined;
  /** As the client named it. */
  readonly asked: string;
  readonly input: JsonObject;
  readonly principal: string;
  readonly capabilities: ClientCapabilities | undefined;
  readonly context: ServerContext;
  /** Aborted when the client cancels, or has gone. */
  readonly signal: AbortSignal;
  readonly server: RelayServer;
}

/** The client of a request, as the request says. */
export function toClient(
  server: RelayServer,
  context: ServerContext,
): Pick<ClientCall, 'server' | 'context' | 'signal' | 'principal' | 'capabilities'> {
  // The SDK has checked it; its type has no such key.
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return {
    server,
    context,
    signal: context.mcpReq.signal,
    principal: context.http?.authInfo?.clientId ?? 'stdio',
    capabilities: said ?? server.getClientCapabilities(),
  };
}

/** The log keeps no state that could be used: the id of the call is its digest. */
export function toCallId(state: string): string {
  return `mcp-${hash('sha256', state).slice(0, 32)}`;
}

export function isEqualCall(
  { name, rawArguments = {} }: OpenCall,
  { tool, input }: ClientCall,
  session: Session,
): boolean {
  // The log has secrets masked.
  const recorded = session.redactor === undefined ? input : session.redactor.redact(input);
  return name === tool && toCanonicalJson(rawArguments) === toCanonicalJson(recorded);
}

export function canElicit({ capabilities }: ClientCall): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
