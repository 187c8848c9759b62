import { isPlainObject } from '@holdfast/core/internal';
import type { ReleasingGuard } from '../decide/types.ts';
import { decide, type GovernOptions, runGoverned, streamGoverned, toGoverned } from './run.ts';

/** A tool of AI SDK 7. All but its `execute` stays as it is. */
type AnyTool = object;

interface ExecuteOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

interface Executable {
  readonly needsApproval?: unknown;
  readonly execute?: (input: unknown, options: ExecuteOptions) => unknown;
}

/** The answer of a `toolApproval` function. */
export type AiSdkApproval =
  | { readonly type: 'not-applicable' }
  | { readonly type: 'denied' | 'user-approval'; readonly reason: string }
  | { readonly type: 'user-approval' };

/** The argument of a `toolApproval` function, as far as the adapter uses it. */
export interface AiSdkApprovalRequest {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
  readonly messages: readonly unknown[];
}

export interface GovernedAiSdkTools<Tools> {
  /** The same tools, of the same types, whose calls are released and reported. */
  readonly tools: Tools;
  /** Pass it beside the tools: it decides each call. */
  readonly toolApproval: (request: AiSdkApprovalRequest) => Promise<AiSdkApproval>;
  /** Ends the calls that a person refused in the SDK's own approvals. A program's own `onStart` has to call it. */
  readonly onStart: (event: { readonly messages: readonly AiSdkMessage[] }) => Promise<void>;
}

interface AiSdkMessage {
  readonly content: unknown;
}

/**
 * Governs the tools of a program on AI SDK 7: `generateText({ model, prompt, ...governTools(guard, tools) })`; also for `streamText` and
 * agents. A denial's reason goes to the model, an ask becomes the SDK's own approval request.
 *
 * Without `toolApproval` nothing is asked: a call that needs an answer is then refused.
 */
export function governTools<Tools extends Readonly<Record<string, AnyTool>>>(
  guard: ReleasingGuard,
  tools: Tools,
  options: GovernOptions = {},
): GovernedAiSdkTools<Tools> {
  const governed: Record<string, AnyTool> = {};
  for (const [name, tool] of Object.entries(tools)) governed[name] = wrap(guard, { name, tool, options });
  return {
    // Each tool keeps its properties; only the body of `execute` is another.
    tools: governed as Tools,
    async toolApproval({ toolCall: { toolCallId: id, toolName: name, input }, messages }) {
      const tool: Executable | undefined = Object.hasOwn(tools, name) ? tools[name] : undefined;
      // A call that its person refuses never runs: it is released when it does.
      if (await asksItself(tool, { input, id, messages })) return { type: 'user-approval' };
      const verdict = await decide(guard, toGoverned('ai-sdk', { id, name, input }, options));
      // `approved` would add a question and its answer to the conversation.
      if (verdict.type === 'allow') return { type: 'not-applicable' };
      return { type: verdict.type === 'deny' ? 'denied' : 'user-approval', reason: verdict.reason };
    },
    async onStart({ messages }) {
      for (const { id, name } of readRefusals(messages))
        await guard.refuse(toGoverned('ai-sdk', { id, name, input: {} }, options));
    },
  };
}

/** The calls of a conversation that a person refused in the SDK's own approvals. */
function readRefusals(messages: readonly AiSdkMessage[]): readonly { readonly id: string; readonly name: string }[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isPlainObject) : []));
  const refused = new Set(
    parts.flatMap((part) =>
      part['type'] === 'tool-approval-response' && part['approved'] === false ? [part['approvalId']] : [],
    ),
  );
  if (refused.size === 0) return [];
  const ids = new Set(
    parts.flatMap((part) =>
      part['type'] === 'tool-approval-request' && refused.has(part['approvalId']) ? [part['toolCallId']] : [],
    ),
  );
  return parts.flatMap(({ type, toolCallId: id, toolName: name }) =>
    type === 'tool-call' && typeof id === 'string' && typeof name === 'string' && ids.has(id) ? [{ id, name }] : [],
  );
}

async function asksItself(
  tool: Executable | undefined,
  { input, id, messages }: { readonly input: unknown; readonly id: string; readonly messages: readonly unknown[] },
): Promise<boolean> {
  const asks = tool?.needsApproval;
  // A function of the tool's own, called as the SDK calls it.
  return typeof asks === 'function' ? (await asks(input, { toolCallId: id, messages })) === true : asks === true;
}

function wrap(
  guard: ReleasingGuard,
  { name, tool, options }: { readonly name: string; readonly tool: Executable; readonly options: GovernOptions },
): AnyTool {
  const { execute } = tool;
  // A tool that the provider or the client runs.
  if (execute === undefined) return tool;
  return {
    ...tool,
    execute(input: unknown, given: ExecuteOptions): unknown {
      const call = toGoverned('ai-sdk', { id: given.toolCallId, name, input }, options);
      const body = (): unknown => execute.call(tool, input, given);
      const signal = given.abortSignal;
      if (!isGenerator(execute))
        return runGoverned(guard, call, { run: async () => await lastOf(await body()), signal });
      return streamGoverned(guard, call, body as () => AsyncIterable<unknown>, signal);
    },
  };
}

const generatorTag = '[object AsyncGeneratorFunction]';

/** Must be known before the call is released, and a body only runs after that. */
function isGenerator(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === generatorTag;
}

/** Of an iterable from a plain function, whose parts come too late to be streamed. */
async function lastOf(value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const part of value as AsyncIterable<unknown>) last = part;
  return last;
}
