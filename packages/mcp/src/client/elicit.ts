import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toPrintable } from '@holdfast/core/internal';
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

/** A form that the client shows, or a page at an address. */
export type QuestionKind = 'form' | 'url';

/** Asks a person. */
export type Elicit = (question: Elicitation) => ElicitationAnswer | Promise<ElicitationAnswer>;

export interface AnsweringOptions {
  readonly name: string;
  /** `undefined`: nobody can be asked, so the answer is no. */
  readonly elicit: Elicit | undefined;
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
    ...('requestedSchema' in params ? { schema: toPrintableSchema(params.requestedSchema as Json) as JsonObject } : {}),
    ...('url' in params ? { url: toPrintable(params.url) } : {}),
  };
  const answer = elicit === undefined ? ({ action: 'decline' } as const) : await elicit(asked);
  tell({ type: 'elicitation', server: name, message, action: answer.action });
  return answer.action === 'accept' && answer.content !== undefined
    ? { action: 'accept', content: { ...answer.content } }
    : { action: answer.action };
}

const shownKeys: ReadonlySet<string> = new Set(['title', 'description', 'enumNames']);

/** The texts of a form that are shown beside its fields. Names and values go back to the server, and stay as they are. */
function toPrintableSchema(node: Json, isShown = false): Json {
  if (typeof node === 'string') return isShown ? toPrintable(node) : node;
  if (Array.isArray(node)) return node.map((inner) => toPrintableSchema(inner, isShown));
  if (!isPlainObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node as JsonObject).map(([key, inner]) => [key, toPrintableSchema(inner, shownKeys.has(key))]),
  );
}
