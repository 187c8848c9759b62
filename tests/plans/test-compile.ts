import {
  type Clock,
  defineTool,
  type HoldfastError,
  isHoldfastError,
  type Json,
  type ModelRequest,
  type Tool,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import {
  type CompileEvent,
  type CompilePlanOptions,
  checkPlan,
  compilePlan,
  modelPlanner,
  type PlanViolation,
} from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';

export const find: Tool = defineTool({
  name: 'find_news',
  description: 'Find news.',
  effects: 'none',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { about: { type: 'string' }, top: { type: 'integer', maximum: 20 } },
    required: ['about'],
  }),
  outputSchema: jsonSchema({ type: 'object', properties: { titles: { type: 'array', items: { type: 'string' } } } }),
  execute: () => ({ titles: [] }),
});
const write = defineTool({
  name: 'write_page',
  description: 'Write a page.',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { lines: { type: 'array', items: { type: 'string' } } },
    required: ['lines'],
  }),
  dangerous: true,
  execute: () => 'written',
});
export const tools: readonly Tool[] = [write, find];
export const request: string = 'Write a page with the news about tulips.';

export const good: string = JSON.stringify({
  nodes: [
    { id: 'news', tool: 'find_news', inputs: { about: 'tulips' } },
    { id: 'page', tool: 'write_page', inputs: { lines: { $from: 'news', path: 'titles' } } },
  ],
  final_output_node: 'page',
});
/** One thing is wrong with it, another one for each `top`. */
export const bad = (top: number): string => good.replace('"tulips"', `"tulips","top":${top}`);
export const broken = (text: string = good): string => text.replace('],', '] ');

export const texts = (...answers: readonly string[]): readonly ScriptStep[] => answers.map((text) => ({ text }));

export interface Compiling {
  /** Of the one error that it ended with; `undefined`: it did not. */
  readonly error: HoldfastError | undefined;
  readonly plan: Json;
  readonly rounds: number | undefined;
  readonly events: readonly CompileEvent[];
  readonly requests: readonly ModelRequest[];
}

export async function compile(
  script: readonly ScriptStep[],
  options: Partial<CompilePlanOptions> = {},
): Promise<Compiling> {
  const model = scriptedModel(script);
  const events: CompileEvent[] = [];
  const base = {
    request,
    tools,
    planner: modelPlanner(model),
    onEvent: (event: CompileEvent) => void events.push(event),
  };
  const ended = await compilePlan({ ...base, ...options }).then(
    ({ plan, rounds }) => ({ error: undefined, plan: plan as unknown as Json, rounds }),
    (error: unknown) => ({ error: toOurs(error), plan: null, rounds: undefined }),
  );
  return { ...ended, events, requests: model.requests };
}

function toOurs(error: unknown): HoldfastError {
  if (isHoldfastError(error)) return error;
  throw error;
}

export async function normalForm(json: string): Promise<Json> {
  const found = await checkPlan(json, { tools });
  return found.type === 'valid' ? (found.checked.plan as unknown as Json) : null;
}

export const asked = ({ events }: Compiling): readonly number[] =>
  events.flatMap((event) => (event.type === 'planner-asked' ? [event.round] : []));
export const violationsIn = ({ error }: Compiling): readonly string[] => {
  const { violations = [] } = (error?.data ?? {}) as unknown as { readonly violations?: readonly PlanViolation[] };
  return violations.map(({ path, ...kind }) => `${describeCode(kind)} ${path}`.trim());
};
export const tooMany: string = 'plan.input.type nodes[0].inputs.top';

/** A clock whose waits are over at once, and which were asked for. */
export function rushingClock(): { readonly clock: Clock; readonly waits: readonly number[] } {
  const clock = manualClock();
  const waits: number[] = [];
  const after = (delayMs: number, run: () => void): (() => void) => {
    waits.push(delayMs);
    const cancel = clock.after(delayMs, run);
    queueMicrotask(() => clock.advance(delayMs));
    return cancel;
  };
  return { clock: { now: clock.now, after }, waits };
}
