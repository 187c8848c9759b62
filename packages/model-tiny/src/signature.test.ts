import { expect, test } from 'vitest';
import { toSignature } from './signature.ts';

test('a tool with a hundred thousand parameters is formatted quickly', () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `p${index}`);
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    required: names,
  };
  expect(toSignature({ name: 'do_it', description: 'does it', inputSchema })).toContain(',p99999:string) does it');
});
