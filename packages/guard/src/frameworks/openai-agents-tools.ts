import { type OwnToolOptions, type OwnTools, OwnToolset } from './own-tools.ts';

interface RunContext {
  isToolApproved?(call: { readonly toolName: string; readonly callId: string }): boolean | undefined;
}

interface CallDetails {
  readonly toolCall?: { readonly callId?: string };
  readonly signal?: AbortSignal;
}

/**
 * Gives tools of Holdfast to a program on OpenAI Agents: each call goes through the executor, with its state and files. `tool` is the SDK's
 * own. An ask becomes an interruption of the run; any other outcome is text for the model.
 *
 * @throws HoldfastError as `executeToolCall`, for an invalid configuration.
 */
export function toOpenAiTools<Factory extends (options: never) => object>(
  tools: OwnTools,
  { tool, ...options }: OwnToolOptions & { readonly tool: Factory },
): ReturnType<Factory>[] {
  const own = new OwnToolset(tools, options);
  const make = tool as unknown as (options: object) => ReturnType<Factory>;
  return own.declarations.map(({ name, description, inputSchema }) =>
    make({
      name,
      description,
      parameters: inputSchema,
      // The executor checks the arguments.
      strict: false,
      needsApproval: async (_: unknown, input: unknown, id?: string): Promise<boolean> =>
        (await own.ask({ id, name, input })) !== undefined,
      // Asked before each message of the model: the SDK tells of a no nowhere else.
      async isEnabled({ runContext }: { readonly runContext: RunContext }): Promise<boolean> {
        await own.refuse(name, (callId) => runContext.isToolApproved?.({ toolName: name, callId }) === false);
        return true;
      },
      async execute(input: unknown, runContext?: RunContext, details?: CallDetails): Promise<string> {
        const callId = details?.toolCall?.callId ?? '';
        const answer = (): boolean | undefined => runContext?.isToolApproved?.({ toolName: name, callId });
        const { text } = await own.run({ id: callId, name, input }, { signal: details?.signal, answer });
        return text;
      },
    }),
  );
}
