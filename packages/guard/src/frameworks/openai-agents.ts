import type { ReleasingGuard } from '../decide/types.ts';
import { decide, type GovernOptions, refusalOf, runGoverned, toGoverned } from './run.ts';

/** The options of the SDK's `tool`, as far as the adapter uses them. */
interface ToolOptions {
  readonly name?: string;
  readonly needsApproval?: unknown;
  readonly outputSchema?: unknown;
  readonly isEnabled?: unknown;
  execute(input: unknown, runContext?: unknown, details?: CallDetails): unknown;
}

interface RunContext {
  isToolApproved?(call: { readonly toolName: string; readonly callId: string }): boolean | undefined;
}

interface CallDetails {
  readonly toolCall?: { readonly callId?: string };
  readonly signal?: AbortSignal;
}

/**
 * Governs the tools of a program on OpenAI Agents: `const tool = governTool(guard, openaiTool)` makes them as the SDK's own `tool` does,
 * with its types. An ask becomes an interruption of the run, which `state.approve` and `state.reject` answer, also from a stored state.
 *
 * The SDK's `tool` turns errors of a body into text, which is why its options are governed and not its result.
 */
export function governTool<Factory extends (options: never) => object>(
  guard: ReleasingGuard,
  tool: Factory,
  options: GovernOptions = {},
): Factory {
  const make = tool as unknown as (options: ToolOptions) => object;
  // The same function, but for the two options that are replaced.
  return ((given: ToolOptions) => make(govern(guard, given, options))) as unknown as Factory;
}

function govern(guard: ReleasingGuard, given: ToolOptions, options: GovernOptions): ToolOptions {
  const { needsApproval, outputSchema, isEnabled = true } = given;
  const name = given.name ?? given.execute.name;
  const tellRefusals = async (runContext: RunContext): Promise<void> => {
    for (const id of guard.asked({ ...options, name })) {
      if (runContext.isToolApproved?.({ toolName: name, callId: id }) === false)
        await guard.refuse(toGoverned('openai-agents', { id, name, input: {} }, options));
    }
  };
  return {
    ...given,
    name,
    async needsApproval(runContext: unknown, input: unknown, id?: string): Promise<boolean> {
      // A call that its person refuses never runs: it is released when it does.
      if (await asksItself(needsApproval, [runContext, input, id])) return true;
      return (await decide(guard, toGoverned('openai-agents', { id, name, input }, options))).type === 'ask';
    },
    // Asked before each message of the model: the SDK tells of a no nowhere else.
    async isEnabled(turn: { readonly runContext: RunContext }): Promise<boolean> {
      await tellRefusals(turn.runContext);
      return typeof isEnabled === 'function' ? Boolean(await isEnabled(turn)) : isEnabled === true;
    },
    async execute(input: unknown, runContext?: unknown, details?: CallDetails): Promise<unknown> {
      try {
        const call = toGoverned('openai-agents', { id: details?.toolCall?.callId, name, input }, options);
        const run = (): unknown => given.execute(input, runContext, details);
        return await runGoverned(guard, call, { run, signal: details?.signal });
      } catch (thrown) {
        // A declared output cannot be a text about a refusal.
        if (outputSchema !== undefined) throw thrown;
        return refusalOf(thrown);
      }
    },
  };
}

async function asksItself(needsApproval: unknown, given: readonly unknown[]): Promise<boolean> {
  // A function of the tool's own, called as the SDK calls it.
  return typeof needsApproval === 'function' ? (await needsApproval(...given)) === true : needsApproval === true;
}
