import type { Tool } from '@holdfast/core';
import { isYes, type ToolContext } from './mastra.ts';
import { type OwnToolOptions, OwnToolset } from './own-tools.ts';

/** The tools by name, as the framework makes them. */
export type MastraTools<Given, Made> = Given extends readonly Tool[]
  ? Record<string, Made>
  : { [Name in keyof Given]: Made };

/**
 * Gives tools of Holdfast to a Mastra agent: each call goes through the executor, with its state and files. `tool` is Mastra's
 * `createTool`. An ask suspends the call, and `agent.resumeStream({ approved: true }, { runId, toolCallId })` answers it; any other outcome
 * is text for the model.
 *
 * @throws HoldfastError as `executeToolCall`, for an invalid configuration.
 */
export function toMastraTools<
  Given extends readonly Tool[] | Readonly<Record<string, Tool>>,
  Factory extends (options: never) => object,
>(
  tools: Given,
  { tool, ...options }: OwnToolOptions & { readonly tool: Factory },
): MastraTools<Given, ReturnType<Factory>> {
  const own = new OwnToolset(tools, options);
  const make = tool as unknown as (options: object) => ReturnType<Factory>;
  const made = own.declarations.map(({ name, description, inputSchema }) => {
    const execute = async (input: unknown, { agent, abortSignal }: ToolContext): Promise<unknown> => {
      const { resumeData } = agent ?? {};
      const answer = (): boolean | undefined => (resumeData === undefined ? undefined : isYes(resumeData));
      const id = agent?.toolCallId;
      const result = await own.run({ id, name, input }, { signal: abortSignal, answer });
      if (result.kind !== 'waits' || options.asks === 'holdfast') return result.text;
      return await agent?.suspend({ reason: result.reason, toolCallId: id });
    };
    return [name, make({ id: name, description, inputSchema, execute })] as const;
  });
  return Object.fromEntries(made) as MastraTools<Given, ReturnType<Factory>>;
}
