import { expect, test } from 'vitest';
import {
  findDrift,
  type McpSeen,
  type McpServerPin,
  mcpTools,
  pinsOf,
  readServerPin,
  startsOtherwise,
  toPins,
  toServerPin,
} from '../index.ts';
import { createTestServer } from '../test-server.ts';

const seen: McpSeen = {
  instructions: 'Be kind.',
  tools: [{ name: 'a', description: 'Reads.' }, { name: 'b' }],
  resources: [{ uri: 'test://a', name: 'a' }],
  templates: [{ uriTemplate: 'test://{x}', name: 'x' }],
  prompts: [{ name: 'greet' }],
};
const pin: McpServerPin = {
  command: 'npx',
  args: ['-y', 'docs@1.2.3'],
  environment: ['TOKEN'],
  package: { name: 'docs', version: '1.2.3', integrity: 'sha512-x' },
  server: { name: 'docs', version: '1.2.3' },
  seen,
};

test('a server that is as it was pinned has no drift, in any order of keys', () => {
  expect(findDrift(pin, JSON.parse(JSON.stringify(pin)) as McpServerPin)).toEqual([]);
  const tools = [{ description: 'Reads.', name: 'a' }, { name: 'b' }].reverse();
  expect(findDrift(pin, { ...pin, seen: { ...seen, tools } })).toEqual([]);
});

test.each([
  { now: { ...pin, args: ['-y', 'docs@1.2.4'] }, drift: { kind: 'start', change: 'changed' } },
  { now: { ...pin, environment: [] }, drift: { kind: 'start', change: 'changed' } },
  { now: { ...pin, command: '/bin/x' }, drift: { kind: 'start', change: 'changed' } },
  { now: { ...pin, package: { name: 'docs', version: '1.2.4' } }, drift: { kind: 'package', change: 'changed' } },
  { now: { ...pin, server: { name: 'docs', version: '2' } }, drift: { kind: 'server', change: 'changed' } },
  { now: { ...pin, seen: { ...seen, instructions: null } }, drift: { kind: 'instructions', change: 'removed' } },
  {
    now: { ...pin, seen: { ...seen, tools: [{ name: 'a', description: 'Sends.' }, { name: 'b' }] } },
    drift: {
      kind: 'tools',
      name: 'a',
      change: 'changed',
      before: seen.tools[0],
      now: { name: 'a', description: 'Sends.' },
    },
  },
  {
    now: { ...pin, seen: { ...seen, resources: [] } },
    drift: { kind: 'resources', name: 'test://a', change: 'removed' },
  },
  {
    now: { ...pin, seen: { ...seen, templates: [] } },
    drift: { kind: 'templates', name: 'test://{x}', change: 'removed' },
  },
  {
    now: { ...pin, seen: { ...seen, prompts: [...seen.prompts, { name: 'new' }] } },
    drift: { kind: 'prompts', name: 'new', change: 'added', now: { name: 'new' } },
  },
] satisfies { now: McpServerPin; drift: object }[])('drift $drift.kind $drift.change', ({ now, drift }) => {
  expect(findDrift(pin, now)).toMatchObject([drift]);
});

test('the pins of what was seen are digests by name, URI and template', () => {
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
  expect(toPins(seen)).toEqual({
    instructions: digest,
    tools: { a: digest, b: digest },
    resources: { 'test://a': digest },
    templates: { 'test://{x}': digest },
    prompts: { greet: digest },
  });
  expect(toPins({ ...seen, instructions: null }).instructions).toBeNull();
});

const address: McpServerPin = {
  url: 'https://example.com/mcp',
  headers: ['Authorization'],
  server: pin.server,
  seen,
};

test('a server at another address, or with other headers, is started otherwise', () => {
  expect(startsOtherwise(address, { url: address.url, headers: ['Authorization'] })).toBe(false);
  expect(startsOtherwise(address, { url: 'https://example.org/mcp', headers: ['Authorization'] })).toBe(true);
  expect(startsOtherwise(address, { url: 'https://example.com/mcp', headers: [] })).toBe(true);
  expect(startsOtherwise(address, pin)).toBe(true);
  expect(startsOtherwise({ ...pin, environment: ['A', 'B'] }, { ...pin, environment: ['B', 'A'] })).toBe(false);
});

test('of another server than the pinned one, by name or version, nothing is offered', async () => {
  const { transport } = createTestServer([{ name: 'a', inputSchema: { type: 'object' } }]);
  const open = (pins?: McpServerPin) =>
    mcpTools({ name: 'docs', transport, era: 'legacy', ...(pins === undefined ? {} : { pins: pinsOf(pins) }) });
  await using first = await open();
  const pinned = toServerPin({ url: address.url, headers: [] }, first, { file: { path: 'a.mjs', sha256: 'a' } });
  expect(readServerPin(JSON.parse(JSON.stringify(pinned)))).toEqual(pinned);
  expect(readServerPin({ ...pinned, file: { path: 'a.mjs' } })).toBeUndefined();
  const otherFile = { ...pinned, file: { path: 'a.mjs', sha256: 'b' } };
  expect(findDrift(pinned, otherFile)).toMatchObject([{ kind: 'file', name: 'a.mjs', change: 'changed' }]);
  await using same = await open(pinned);
  expect(same).toMatchObject({ withheld: [], server: { instructions: 'Be kind.' } });
  await using other = await open({ ...pinned, server: { ...pinned.server, version: '1.2.2' } });
  expect(other.withheld.map(({ name }) => name)).toEqual(['docs_a']);
  expect(other.tools.map(({ name }) => name)).not.toContain('docs_a');
  expect(other.withholds('docs_get_prompt', { name: 'greet' })).toBe(true);
  expect(other.server.instructions).toBeUndefined();
});

test('a pin is read back from a lock', () => {
  expect(readServerPin(JSON.parse(JSON.stringify(address)))).toEqual(address);
  expect(readServerPin(JSON.parse(JSON.stringify(pin)))).toEqual(pin);
  const { package: _package, ...plain } = pin;
  expect(readServerPin(plain)).toEqual(plain);
});

test.each([
  { what: 'a list', value: [pin] },
  { what: 'no command', value: { ...pin, command: undefined } },
  { what: 'a command and an address', value: { ...pin, ...address } },
  { what: 'an address with values of headers', value: { ...address, headers: { a: 'b' } } },
  { what: 'an argument that is a number', value: { ...pin, args: [1] } },
  { what: 'an environment with values', value: { ...pin, environment: { TOKEN: 'x' } } },
  { what: 'a package without a version', value: { ...pin, package: { name: 'docs' } } },
  { what: 'a server without a name', value: { ...pin, server: { version: '1' } } },
  { what: 'nothing seen', value: { ...pin, seen: undefined } },
  { what: 'a number for instructions', value: { ...pin, seen: { ...seen, instructions: 1 } } },
  { what: 'no prompts', value: { ...pin, seen: { ...seen, prompts: undefined } } },
  { what: 'a resource without a URI', value: { ...pin, seen: { ...seen, resources: [{ name: 'a' }] } } },
])('$what does not make a pin', ({ value }) => {
  expect(readServerPin(value)).toBeUndefined();
});
