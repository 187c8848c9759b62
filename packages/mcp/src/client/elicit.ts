import type { Json, JsonObject } from '@holdfast/core';
import { toPrintable } from '@holdfast/core/internal';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import type { McpListener } from './events.ts';

/** A question of a server to the user. Show the server's name: it may pretend to be another one. */
export interface Elicitation {
  readonly server: string;
  /** Printable: control and bidirectional characters are shown as what they are. */
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema?: JsonObject;
  /** A page where the question is answered instead. */
  readonly url?: string;
}

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: 'decline' | 'cancel' };

export type Elicit = (question: Elicitation) => ElicitationAnswer | Promise<ElicitationAnswer>;

export interface AnsweringOptions {
  readonly name: string;
  readonly elicit: Elicit;
  readonly tell: McpListener;
}

export async function answerElicitation(
  params: ElicitRequest['params'],
  { name, elicit, tell }: AnsweringOptions,
): Promise<ElicitResult> {
  const message = toPrintable(params.message);
  const asked: Elicitation = {
    server: name,
    message,
    ...('requestedSchema' in params ? { schema: params.requestedSchema as Json as JsonObject } : {}),
    ...('url' in params ? { url: toPrintable(params.url) } : {}),
  };
  const answer = await elicit(asked);
  tell({ type: 'elicitation', server: name, message, action: answer.action });
  return answer.action === 'accept' && answer.content !== undefined
    ? { action: 'accept', content: { ...answer.content } }
    : { action: answer.action };
}
