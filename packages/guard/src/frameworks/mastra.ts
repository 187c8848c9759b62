import { isPlainObject } from '@holdfast/core/internal';
import type { ReleasingGuard } from '../decide/types.ts';
import { decide, type GovernOptions, refusalOf, runGoverned, toGoverned } from './run.ts';

/** The context of a Mastra tool, as far as the adapter uses it. */
export interface ToolContext {
  readonly abortSignal?: AbortSignal;
  readonly agent?: {
    readonly toolCallId: string;
    readonly resumeData?: unknown;
    suspend(payload: unknown): Promise<unknown>;
  };
}

interface Executable {
  readonly id?: string;
  execute?: (input: unknown, context: ToolContext) => unknown;
}

/**
 * Governs the tools of a Mastra agent: `new Agent({ ..., tools: governTools(guard, tools) })`. An ask suspends the call, and
 * `agent.resumeStream({ approved: true }, { runId, toolCallId })` answers it: Mastra's `requireToolApproval` has no id of the call. A
 * denial's reason is the tool's result.
 */
export function governTools<Tools extends Readonly<Record<string, object>>>(
  guard: ReleasingGuard,
  tools: Tools,
  options: GovernOptions = {},
): Tools {
  const governed = Object.entries(tools).map(([name, tool]) => [name, wrap(guard, { name, tool, options })]);
  // Each tool keeps its class and properties; only the body of `execute` is another.
  return Object.fromEntries(governed) as Tools;
}

function wrap(
  guard: ReleasingGuard,
  { name, tool, options }: { readonly name: string; readonly tool: Executable; readonly options: GovernOptions },
): object {
  const { execute } = tool;
  if (execute === undefined) return tool;
  const governed = async (input: unknown, context: ToolContext): Promise<unknown> => {
    try {
      const call = toGoverned('mastra', { id: context.agent?.toolCallId, name, input }, options);
      const verdict = await decide(guard, call);
      if (verdict.type === 'ask') {
        const { resumeData, suspend } = context.agent ?? {};
        if (resumeData === undefined) return await suspend?.({ reason: verdict.reason, toolCallId: call.id });
        if (!isYes(resumeData)) {
          await guard.refuse(call);
          return `\`${name}\` was not run: a person said no.`;
        }
      }
      const run = (): unknown => execute.call(tool, input, context);
      return await runGoverned(guard, call, { run, signal: context.abortSignal, problemOf: validationError });
    } catch (thrown) {
      return refusalOf(thrown);
    }
  };
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null) as object, tool, {
    execute: governed,
  });
}

export function isYes(resumeData: unknown): boolean {
  return isPlainObject(resumeData) && resumeData['approved'] === true;
}

/** Mastra returns it for an input or output that its schema does not accept. */
function validationError(value: unknown): string | undefined {
  return isPlainObject(value) && value['error'] === true && 'validationErrors' in value
    ? String(value['message'])
    : undefined;
}
