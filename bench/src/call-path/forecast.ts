import {
  defineSlice,
  defineTool,
  type Effects,
  type ExecutableTool,
  type KeyedState,
  type Policy,
  type Slice,
  type ToolContext,
  type ToolResult,
  toolOk,
  upsert,
} from '@holdfast/core';
import { callBudget, sequentialDependency } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import type { Work } from './governed.ts';
import { counted } from './work.ts';

/** The model's JSON for one call. */
export const argumentsText = '{"city":"Utrecht","days":3,"units":"metric"}';

/** Used by every subject, ours and others'. */
export const inputSchema: v.GenericSchema<RawInput, Input> = v.object({
  city: v.pipe(v.string(), v.minLength(1)),
  days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(14)), 1),
  units: v.optional(v.picklist(['metric', 'imperial']), 'metric'),
});

interface RawInput {
  readonly city: string;
  readonly days?: number | undefined;
  readonly units?: 'metric' | 'imperial' | undefined;
}

interface Input {
  readonly city: string;
  readonly days: number;
  readonly units: 'metric' | 'imperial';
}

// A type, not an interface: an interface is not assignable to JSON.
type Forecast = {
  readonly city: string;
  readonly degrees: readonly number[];
};

export type ForecastTool = ExecutableTool<Input, Forecast>;

export const toolName = 'forecast';
export const toolDescription = 'Forecast the weather of a city.';

/** The work of the tool itself, the same for every subject. */
export async function makeForecast({ city, days }: Input): Promise<Forecast> {
  counted.calls += 1;
  return { city, degrees: Array.from({ length: days }, (_, day) => 10 + day) };
}

/** The floor: parse, validate with the same schema, call. */
export async function callBare(): Promise<void> {
  const { city } = await makeForecast(v.parse(inputSchema, JSON.parse(argumentsText)));
  if (city !== 'Utrecht') throw new Error('the floor did not succeed');
}

/** The state that the tool writes: the last forecast of each city. */
export const forecasts: Slice<KeyedState<Forecast>> = defineSlice<Forecast>({
  id: 'bench/forecasts',
  kind: 'keyed',
  reducers: { 'forecast-made': (_state, forecast) => upsert((forecast as Forecast).city, forecast) },
});

/** One event and one state write a call. */
const writingForecast: ForecastTool = declare('state', async (input, { session }) => {
  const forecast = await makeForecast(input);
  session.dispatch({ type: 'forecast-made', payload: forecast });
  return toolOk(forecast, `Forecast of ${input.days} days.`);
});

/** Has no effects, and declares that. */
export const readingForecast: ForecastTool = declare('none', async (input) =>
  toolOk(await makeForecast(input), `Forecast of ${input.days} days.`),
);

function declare(
  effects: Effects,
  execute: (input: Input, context: ToolContext) => Promise<ToolResult<Forecast>>,
): ForecastTool {
  return defineTool({ name: toolName, description: toolDescription, inputSchema, effects, execute });
}

/** The row with a write, as it was measured from the start. */
export const forecasting: Work = {
  tool: writingForecast,
  argumentsText,
  createSession: () => createSession({ slices: [forecasts] }),
  createPolicies: twoPolicies,
};

/** A budget that is never exhausted and an empty dependency: both check every call and count every success. */
export function twoPolicies(tool: string = toolName): readonly Policy[] {
  return [callBudget({ maxCalls: Number.MAX_SAFE_INTEGER }), sequentialDependency({ [tool]: [] })];
}
