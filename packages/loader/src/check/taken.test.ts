import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { readMetadata } from '../scan/metadata.ts';

const properties = "{ city: { type: 'string' }, days: { type: 'integer' } }";
const schema = `type: 'object', properties: ${properties}`;
const file = (work: string, parameters = schema): string => `export const METADATA = {
  name: 'weather', function: 'work', description: 'Tells the weather.', dangerous: false, parameters: { ${parameters} },
};
${work}
`;
const definition = (execute: string): string => `import { defineTool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
export default defineTool({
  name: 'weather', description: 'Tells the weather.', effects: 'none', inputSchema: jsonSchema({ ${schema} }), ${execute},
});
`;

async function find(source: string, name = 'x.mjs', options = {}): Promise<readonly string[]> {
  const { diagnostics } = await readMetadata(source, name, options);
  return diagnostics.map(
    ({ severity, code, reason, message }) => `${severity} ${describeCode({ code, reason })} ${message}`,
  );
}

const others = (names: string): string =>
  `warning tool.metadata.invalid: function.parameters The function uses ${names}, which the schema does not describe.`;
const named = (name: string): string =>
  `warning tool.metadata.invalid: function.parameters The function has a parameter \`${name}\` that is named like an argument, but receives an object with all arguments.`;

test.each<{ readonly source: string; readonly name?: string; readonly says?: string }>([
  { source: file('export function work({ city, days }) {}') },
  { source: file('export function work({ city }) {}') },
  { source: file('export const work = async ({ city }, context) => city;') },
  { source: file('export function work(input, city) {}') },
  { source: file('export function work({ city, unit = 1, days = 2 }) {}') },
  { source: file('export function work({ city, ...others }) {}') },
  { source: file('export function work({ town }) {}', `${schema}, additionalProperties: true`) },
  { source: file('export function work({ town }) {}', `${schema}, oneOf: [{ required: ['city'] }]`) },
  { source: file('export function work({ town, city, dayz }) {}'), says: others('`town`, `dayz`') },
  {
    source: file('export function work({ town }) {}', `${schema}, additionalProperties: false`),
    says: others('`town`'),
  },
  { source: file('export function work({ town: city } = {}) {}'), says: others('`town`') },
  { source: file('export const work = ({ town = 1, dayz }) => town;'), says: others('`dayz`') },
  { source: file('export function work(city, days) {}'), says: named('city') },
  { source: file('export async function work(city) {}'), says: named('city') },
  { source: file('export function work({ town }: { town: string }): string {}'), name: 'x.ts', says: others('`town`') },
  { source: file('export function work(this: void, city: string): string {}'), name: 'x.ts', says: named('city') },
  { source: definition('execute: ({ city }) => city') },
  { source: definition('execute({ town }) {}'), says: others('`town`') },
])('$source', async ({ source, name, says }) => {
  expect(await find(source, name)).toEqual(says === undefined ? [] : [says]);
});

test('is an error under strict', async () => {
  expect(await find(file('export function work(city) {}'), 'x.mjs', { strict: true })).toEqual([
    named('city').replace('warning', 'error'),
  ]);
});

test('time is linear in the number of blanks', async () => {
  const source = file(`export function work(city: ${' '.repeat(200_000)}) {}`);
  expect(await find(source, 'x.ts')).not.toEqual([]);
  expect(await find(file(`export function work(city${' '.repeat(200_000)}, days) {}`))).toEqual([named('city')]);
});
