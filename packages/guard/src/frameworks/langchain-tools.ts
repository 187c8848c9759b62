import { type LangChainCall, type LangChainMessage, type Runtime, readAnswers } from './langchain.ts';
import { type OwnToolOptions, type OwnTools, OwnToolset } from './own-tools.ts';

interface CallConfig {
  readonly toolCall?: { readonly id?: string };
  readonly signal?: AbortSignal;
}

/** A middleware of LangChain 1, structurally. */
export interface HoldfastToolsMiddleware {
  readonly name: string;
  readonly afterModel: {
    hook(state: { readonly messages: readonly LangChainMessage[] }, runtime: Runtime): Promise<undefined>;
  };
}

export interface LangChainTools<Made> {
  readonly tools: Made[];
  /** Asks before the first tool of a message runs. Without it a call that needs an answer waits for one in Holdfast. */
  readonly middleware: [HoldfastToolsMiddleware];
}

/**
 * Gives tools of Holdfast to a LangChain agent: `createAgent({ model, checkpointer, ...toLangChainTools(tools, { tool, session }) })`. Each
 * call goes through the executor, with its state and files. `tool` is LangChain's own. An ask is an interrupt, as for
 * `holdfastMiddleware`; any other outcome is text for the model.
 *
 * @throws HoldfastError as `executeToolCall`, for an invalid configuration.
 */
export function toLangChainTools<Factory extends (run: never, fields: never) => object>(
  tools: OwnTools,
  { tool, ...options }: OwnToolOptions & { readonly tool: Factory },
): LangChainTools<ReturnType<Factory>> {
  const own = new OwnToolset(tools, options);
  const make = tool as unknown as (run: object, fields: object) => ReturnType<Factory>;
  const names = new Set(own.declarations.map(({ name }) => name));
  const ask = async ({ id, name, args: input }: LangChainCall) => {
    const reason = await own.ask({ id, name, input });
    return reason === undefined ? [] : [{ call: { id, name, args: input }, reason }];
  };
  return {
    tools: own.declarations.map(({ name, description, inputSchema: schema }) =>
      make(
        async (input: unknown, { toolCall, signal }: CallConfig): Promise<string> =>
          (await own.run({ id: toolCall?.id, name, input }, { signal })).text,
        // LangChain's own check writes into it.
        { name, description, schema: structuredClone(schema) },
      ),
    ),
    middleware: [
      {
        name: 'HoldfastTools',
        afterModel: {
          async hook({ messages }, runtime) {
            const calls = (messages.at(-1)?.tool_calls ?? []).filter(({ name }) => names.has(name));
            const asked = (await Promise.all(calls.map(ask))).flat();
            if (asked.length === 0) return;
            for (const { call, no } of readAnswers(asked, runtime)) {
              const { id, name, args: input } = call;
              await own.answer({ id, name, input }, no === undefined, no);
            }
          },
        },
      },
    ],
  };
}
