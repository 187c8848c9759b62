import { defineTool, type ExecutableTool, type ToolResult, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';

/** What a model sends for one call. */
export const argumentsText = '{"city":"Utrecht","days":3,"units":"metric"}';

const inputSchema = v.object({
  city: v.pipe(v.string(), v.minLength(1)),
  days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(14)), 1),
  units: v.optional(v.picklist(['metric', 'imperial']), 'metric'),
});

interface Input {
  readonly city: string;
  readonly days: number;
  readonly units: 'metric' | 'imperial';
}

interface Forecast {
  readonly city: string;
  readonly degrees: readonly number[];
}

async function execute({ city, days }: Input): Promise<ToolResult<Forecast>> {
  return toolOk({ city, degrees: Array.from({ length: days }, (_, day) => 10 + day) }, `Forecast of ${days} days.`);
}

/** The tool that every row calls. */
export const forecast: ExecutableTool<Input, Forecast> = defineTool({
  name: 'forecast',
  description: 'Forecast the weather of a city.',
  inputSchema,
  effects: 'state',
  execute,
});

/** The same tool, which does the same work and then says that it failed: everything it did is rolled back. */
export const failingForecast: ExecutableTool<Input, Forecast> = defineTool({
  name: 'forecast',
  description: 'Forecast the weather of a city.',
  inputSchema,
  effects: 'state',
  async execute(input: Input): Promise<ToolResult<Forecast>> {
    const { value } = await execute(input);
    return toolError('The station does not answer.', { value: { city: value?.city ?? '' } });
  },
});

/** What nobody can do without: parse, validate by the same schema, call. */
export async function callBare(): Promise<void> {
  const { success } = await execute(v.parse(inputSchema, JSON.parse(argumentsText)));
  if (!success) throw new Error('the floor did not succeed');
}
