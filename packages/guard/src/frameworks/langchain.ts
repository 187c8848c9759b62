import { isPlainObject } from '@holdfast/core/internal';
import type { ReleasingGuard } from '../decide/types.ts';
import { decide, type GovernOptions, refusalOf, runGoverned, toGoverned } from './run.ts';

export interface LangChainCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: unknown;
}

export interface LangChainMessage {
  readonly type: string;
  readonly tool_calls?: readonly LangChainCall[] | undefined;
}

export interface Runtime {
  readonly signal?: AbortSignal | undefined;
  readonly interrupt?: ((value: unknown) => unknown) | undefined;
}

/** The argument of `wrapToolCall`, as far as the adapter uses it. */
interface Request {
  readonly toolCall: LangChainCall;
  readonly tool: unknown;
  readonly runtime: Runtime;
}

/** A middleware of LangChain 1, structurally: pass it to `createAgent({ middleware: [...] })`. */
export interface HoldfastMiddleware {
  readonly name: string;
  // `any` in the framework's own type of both hooks: a method is checked against it in either direction.
  readonly afterModel: {
    hook(state: { readonly messages: readonly LangChainMessage[] }, runtime: Runtime): Promise<object | undefined>;
    canJumpTo: 'model'[];
  };
  wrapToolCall<Message, Given extends Request>(
    request: Given,
    handler: (request: Given) => Message | PromiseLike<Message>,
  ): Promise<Message>;
}

interface Refused {
  readonly call: LangChainCall;
  readonly reason: string;
}

/**
 * Governs every tool of a LangChain agent. Calls are decided after the model and before the first tool runs: an ask is an interrupt in the
 * format of `humanInTheLoopMiddleware` (`approve` or `reject`), which needs a checkpointer. Put it first in the list, so that it settles
 * what the tools and the other middleware did.
 */
export function holdfastMiddleware(guard: ReleasingGuard, options: GovernOptions = {}): HoldfastMiddleware {
  return {
    name: 'HoldfastMiddleware',
    afterModel: {
      async hook({ messages }, runtime) {
        const calls = messages.at(-1)?.tool_calls ?? [];
        const verdicts = await Promise.all(calls.map((call) => decide(guard, toCall(call, options))));
        const refused: Refused[] = [];
        const asked: Refused[] = [];
        for (const [index, call] of calls.entries()) {
          const verdict = verdicts[index];
          if (verdict?.type === 'deny') refused.push({ call, reason: verdict.reason });
          if (verdict?.type === 'ask') asked.push({ call, reason: verdict.reason });
        }
        if (asked.length > 0) {
          const no = interrupt(asked, runtime);
          await Promise.all(no.map(({ call, reason }) => guard.refuse(toCall(call, options), reason)));
          refused.push(...no);
        }
        if (refused.length === 0) return undefined;
        const told = refused.map(({ call: { id, name }, reason }) => ({
          ...{ type: 'tool', tool_call_id: id, name, status: 'error' },
          content: reason,
        }));
        return { messages: told, ...(refused.length === calls.length ? { jumpTo: 'model' } : {}) };
      },
      canJumpTo: ['model'],
    },
    async wrapToolCall(request, handler) {
      // LangChain makes the message of a tool that returns text.
      const say = (text: unknown) => handler({ ...request, tool: { name: request.toolCall.name, invoke: () => text } });
      let made: { readonly message: Awaited<ReturnType<typeof handler>> } | undefined;
      try {
        const first = await runGoverned(guard, toCall(request.toolCall, options), {
          async run() {
            made = { message: await handler(request) };
            return contentOf(made.message);
          },
          signal: request.runtime.signal,
          problemOf: (content) => (statusOf(made?.message) === 'error' ? String(content) : undefined),
        });
        return made === undefined ? await say(first) : made.message;
      } catch (thrown) {
        return await say(refusalOf(thrown));
      }
    },
  };
}

function toCall({ id, name, args }: LangChainCall, options: GovernOptions): ReturnType<typeof toGoverned> {
  return toGoverned('langchain', { id, name, input: args }, options);
}

/** Asks in the format of the framework's own middleware. Returns the calls that were not approved. */
function interrupt(asked: readonly Refused[], runtime: Runtime): readonly Refused[] {
  return readAnswers(asked, runtime).flatMap(({ call, no }) =>
    no === undefined ? [] : [{ call, reason: `\`${call.name}\` was not run: ${no}` }],
  );
}

/** The same, with each call. `no`: why it was not approved. */
export function readAnswers(
  asked: readonly Refused[],
  { interrupt: askPerson }: Runtime,
): readonly { readonly call: LangChainCall; readonly no: string | undefined }[] {
  const answer = askPerson?.({
    actionRequests: asked.map(({ call: { id, name, args }, reason }) => ({ id, name, args, description: reason })),
    reviewConfigs: asked.map(({ call: { name } }) => ({ actionName: name, allowedDecisions: ['approve', 'reject'] })),
  });
  const decisions = isPlainObject(answer) && Array.isArray(answer['decisions']) ? answer['decisions'] : [];
  return asked.map(({ call }, index) => {
    const decision: unknown = decisions.length === asked.length ? decisions[index] : undefined;
    if (isPlainObject(decision) && decision['type'] === 'approve') return { call, no: undefined };
    const said = isPlainObject(decision) && typeof decision['message'] === 'string' ? ` ${decision['message']}` : '';
    return { call, no: `a person said no.${said}` };
  });
}

function contentOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'content' in message ? message.content : null;
}

function statusOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'status' in message ? message.status : undefined;
}
