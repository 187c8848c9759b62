import type { Json } from '@holdfast/core';
import { packPolicies } from '@holdfast/policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, preset, succeed } from './fixtures.ts';
import { type NetworkEgressOptions, networkEgress } from './index.ts';

const strict: NetworkEgressOptions = {
  ...preset('strict'),
  hosts: ['example.org', '*.example.net', '[2606:4700::1111]', '8.8.8.8'],
};
/** Every host and scheme, so that only addresses and spellings are refused. */
const open: NetworkEgressOptions = {
  hosts: ['*'],
  schemes: ['http', 'https', 'ftp', 'file', 'data'],
  ports: [80, 443, 21, 8080],
};

test.each([
  'https://example.org',
  'https://example.org/a?b=c#d',
  'HTTPS://EXAMPLE.ORG/a',
  'https://example.org./a',
  'https://example.org:443/',
  'https://ex\u00e4mple.example.net/',
  'https://a.b.example.net',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700:0::1111]/',
  'https://\uff45xample.org/',
])('may be reached: %s', async (url) => {
  expect(await decide(strict, { url })).toEqual({ type: 'allow' });
});

test.each([
  'https://example.com/',
  'https://example.org.evil.test/',
  'https://evil-example.org/',
  'https://example.net/',
  'https://notexample.net/',
  'https://ex\u0430mple.org/',
  'https://8.8.4.4/',
])('the host is not listed: %s', async (url) => {
  expect(await decide(strict, { url })).toMatchObject({ type: 'deny', reason: expect.stringContaining('not among') });
  expect(await decide({ ...strict, unlisted: 'ask' }, { url })).toMatchObject({ type: 'ask' });
});

test.each([
  'http://example.org/',
  'ftp://example.org/',
  'file:///etc/passwd',
  'data:text/plain,a',
  'javascript:alert(1)',
  'https://example.org:8443/',
  'https://user@example.org/',
  'https://user:word@example.org/',
  'https://@example.org/',
  'https://example.org%2f@evil.test/',
  'https://example%2eorg/',
  'https:/example.org/',
  'https:example.org',
  'https:///example.org/',
  'https:\\\\example.org\\',
  'https://evil.test\\@example.org/',
  'https://example.org\\.evil.test/',
  '//example.org/',
  'example.org',
  '',
  ' https://example.org/',
  'https://example.org/ ',
  'https://example.org/a b',
  'https://exa\nmple.org/',
  'https://exa\tmple.org/',
  'https://example.org/\u0000',
  'https://example.org/\u00a0',
  'https://example.org/\ud800',
  'https://example..org/',
  'https://example.org../',
  'https://.example.net/',
  'https://[example.org]/',
  'https://256.1.1.1/',
  'https://',
  `https://example.org/${'a'.repeat(2_048)}`,
])('is refused however it is meant: %s', async (url) => {
  expect(await decide({ ...strict, unlisted: 'ask' }, { url })).toMatchObject({ type: 'deny' });
});

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '\uff11\uff12\uff17.0.0.1',
  '127\u30020\u30020\u30021',
  '0',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '192.88.99.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[4000::1]',
  '[5f00::1]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'metadata.google.internal',
  'metadata',
  'router.local',
  'nas.home.arpa',
  'wiki.corp',
  'kubernetes.default.svc',
  'printer.home',
  'db.service.consul',
])('is not public: %s', async (host) => {
  expect(await decide(open, { url: `http://${host}/` })).toMatchObject({ type: 'deny' });
  expect(await decide({ ...open, unlisted: 'ask' }, { url: `http://${host}:8080/` })).toMatchObject({ type: 'deny' });
});

test('without names, the usual tools are judged, behind a prefix where they have a URL', async () => {
  const url = 'http://127.0.0.1/';
  const type = async (input: Json, name: string) => (await decide({ ...open, tools: undefined }, input, name)).type;
  for (const name of ['fetch', 'read_url', 'dev_fetch', 'dev-web_fetch', 'mcp__host__browser_navigate']) {
    expect({ name, type: await type({ url }, name) }).toEqual({ name, type: 'deny' });
  }
  expect(await type({ remote: 'origin' }, 'fetch')).toBe('deny');
  expect(await type({ remote: 'origin' }, 'git_fetch')).toBe('allow');
  expect(await type({ url }, 'prefetch')).toBe('allow');
  expect((await decide({ ...open, tools: { get: 'to' } }, { url })).type).toBe('allow');
});

test('what is not public is reached where the host says so, exactly', async () => {
  const options = { ...open, hosts: ['*', 'localhost'], privateAddresses: ['127.0.0.1/32', 'fd00::/16'] };
  const answer = async (host: string) => (await decide(options, { url: `http://${host}/` })).type;
  expect(await answer('0x7f.1')).toBe('allow');
  expect(await answer('127.0.0.2')).toBe('deny');
  expect(await answer('[fd00::1]')).toBe('allow');
  expect(await answer('[::ffff:127.0.0.1]')).toBe('deny');
  expect(await answer('localhost')).toBe('allow');
  expect(await answer('a.localhost')).toBe('deny');
});

test.each<{ input: Json; type: string; options?: NetworkEgressOptions }>([
  { input: { url: 'https://example.org', method: 'GET' }, type: 'allow' },
  { input: { url: 'https://example.org', method: 'head' }, type: 'allow' },
  { input: { url: 'https://example.org', method: 'POST' }, type: 'deny' },
  { input: { url: 'https://example.org', method: ' GET' }, type: 'deny' },
  { input: { url: 'https://example.org', method: 'G\u0415T' }, type: 'deny' },
  { input: { url: 'https://example.org', method: ['GET'] }, type: 'deny' },
  { input: { url: 'https://example.org', method: null }, type: 'deny' },
  { input: { url: 'https://example.org', method: 'POST' }, type: 'ask', options: { unlisted: 'ask' } },
  { input: { url: 'https://example.org', method: 'a\nb' }, type: 'deny', options: { unlisted: 'ask' } },
  { input: { url: 'https://example.org', method: 'POST' }, type: 'allow', options: { methods: ['POST'] } },
  { input: { url: 'https://example.org' }, type: 'deny', options: { methods: ['POST'] } },
  { input: { url: 'https://example.org/' }, type: 'deny', options: { maxUrlLength: 19 } },
  { input: { url: ['https://example.org', 'https://a.example.net'] }, type: 'allow' },
  { input: { url: ['https://example.org', 'https://example.com'] }, type: 'deny' },
  { input: { url: [['https://example.org']] }, type: 'deny' },
  { input: { url: [] }, type: 'deny' },
  { input: { url: { href: 'https://example.org' } }, type: 'deny' },
  { input: { href: 'https://example.org' }, type: 'deny' },
  { input: {}, type: 'deny' },
  { input: null, type: 'deny' },
  { input: 'https://example.org', type: 'deny' },
])('$input with $options: $type', async ({ input, type, options }) => {
  expect(await decide({ ...strict, ...options }, input)).toMatchObject({ type });
});

test('tools hold their requests where the host says; others are not asked about', async () => {
  const options: NetworkEgressOptions = {
    ...strict,
    tools: {
      post: { url: 'to', usualMethod: 'POST' },
      look: 'page',
      call: { url: 'to', method: 'verb', usualMethod: 'POST' },
    },
  };
  const url = 'https://example.org';
  expect(await decide(options, { to: url }, 'post')).toMatchObject({ type: 'deny' });
  expect(await decide({ ...options, methods: ['POST'] }, { to: url }, 'post')).toEqual({ type: 'allow' });
  expect(await decide(options, { page: url, method: 'POST' }, 'look')).toEqual({ type: 'allow' });
  expect(await decide(options, { to: url, verb: 'GET' }, 'call')).toEqual({ type: 'allow' });
  expect(await decide(options, { to: url }, 'call')).toMatchObject({ type: 'deny' });
  expect(await decide(options, { url: 'http://127.0.0.1' })).toEqual({ type: 'allow' });
  const [policy] = packPolicies(networkEgress, { config: { tools: { look: 'page' } } });
  expect(policy?.tools).toEqual(['look']);
  expect(packPolicies(networkEgress).map(({ id, tools }) => ({ id, tools }))).toEqual([
    { id: 'network-egress-requests', tools: [] },
  ]);
});

test('reasons say what is wrong, and nothing of what a URL holds beside its host', async () => {
  expect(await decide(strict, { url: 'https://example.com/?key=tulip' })).toEqual({
    type: 'deny',
    reason:
      'The host `example.com` is not among those that may be reached: `example.org`, `*.example.net`, `2606:4700::1111`, `8.8.8.8`.',
  });
  expect(await decide(strict, { url: 'https://ada:tulip@example.org/' })).toEqual({
    type: 'deny',
    reason: 'It holds a user name.',
  });
});

const ending: NetworkEgressOptions = {
  ...strict,
  unlisted: 'ask',
  tools: { fetch: { url: 'url', finalUrl: 'page.url' } },
};

test.each<{ value: Json; problem?: string }>([
  { value: { page: { url: 'https://example.org/b' } } },
  { value: { page: { url: ['https://asked.test/', 'https://a.example.net/'] } } },
  { value: { page: { url: 'https://other.test/' } }, problem: '`other.test` is not among' },
  { value: { page: { url: 'http://example.org/' } }, problem: '`http` is not among' },
  { value: { page: { url: ['https://example.org/', 'https://127.0.0.1/'] } }, problem: 'no public address (loopback)' },
  { value: { page: { url: [] } }, problem: 'has no URL as `page.url`' },
  { value: { page: 'https://example.org/' }, problem: 'has no URL as `page.url`' },
  { value: null, problem: 'has no URL as `page.url`' },
])('a result that came from $value: $problem', ({ value, problem }) => {
  const run = (): void => succeed(ending, { url: 'https://asked.test/a' }, value);
  if (problem === undefined) expect(run).not.toThrow();
  else {
    expect(run).toThrow(
      expect.objectContaining({ code: 'policy.network_egress', message: expect.stringContaining(problem) }),
    );
  }
});

test('results of other tools, and without `finalUrl`, are not looked at', () => {
  expect(() => succeed(ending, {}, null, 'other')).not.toThrow();
  expect(() => succeed(strict, { url: 'https://example.org' }, null)).not.toThrow();
});

test.each<Json>([
  { hosts: ['https://example.org'] },
  { hosts: ['EXAMPLE.org'] },
  { hosts: ['*example.org'] },
  { hosts: ['a/b'] },
  { privateAddresses: ['127.0.0.1'] },
  { privateAddresses: ['10.0.0.0/33'] },
  { ports: [0] },
  { methods: ['get'] },
  { unlisted: 'allow' },
  { tools: { fetch: { url: '' } } },
  { tools: { 'no name': 'url' } },
  { more: 1 },
])('options that do not fit are refused: %j', (config) => {
  expect(() => packPolicies(networkEgress, { config: config as Record<string, Json> })).toThrow(
    expect.objectContaining({ code: 'pack.config.invalid' }),
  );
});

test('no spelling of an address that is not public is let through', async () => {
  const part = fc.integer({ min: 0, max: 255 });
  const address = fc.oneof(
    fc.tuple(fc.constant(127), part, part, part),
    fc.tuple(fc.constant(10), part, part, part),
    fc.tuple(fc.constant(192), fc.constant(168), part, part),
    fc.tuple(fc.constant(169), fc.constant(254), part, part),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), part, part),
  );
  const number = (value: number, base: number): string =>
    base === 8 ? `0${value.toString(8)}` : base === 16 ? `0x${value.toString(16)}` : String(value);
  const spelling = fc.tuple(
    address,
    fc.constantFrom(1, 2, 3, 4),
    fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(spelling, fc.boolean(), async ([octets, count, bases], isDotted) => {
      // The last number holds all octets that are left.
      const last = octets.slice(count - 1).reduce((sum, octet) => sum * 256 + octet, 0);
      const numbers = [...octets.slice(0, count - 1), last];
      const host = numbers.map((value, index) => number(value, bases[index] ?? 10)).join('.') + (isDotted ? '.' : '');
      expect(await decide(open, { url: `http://${host}/` })).toMatchObject({ type: 'deny' });
      const mapped = octets.map((octet) => octet.toString(16).padStart(2, '0'));
      const end = `${mapped.slice(0, 2).join('')}:${mapped.slice(2).join('')}`;
      for (const start of ['::ffff:', '64:ff9b::', '::', '::ffff:0:']) {
        expect(await decide(open, { url: `http://[${start}${end}]/` })).toMatchObject({ type: 'deny' });
      }
    }),
  );
});

test('whatever the text and the arguments, there is an answer, and what is let through leads to a listed host', async () => {
  const piece = fc.constantFrom(
    'https:',
    'http:',
    '/',
    '//',
    '\\',
    '@',
    ':',
    '443',
    'example.org',
    'evil.test',
    '127.0.0.1',
    '.',
    '?',
    '#',
    '%40',
    '[',
    ']',
    '\t',
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 10 }).map((found) => found.join('')),
    fc.webUrl(),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (url) => {
      const { type } = await decide(strict, { url });
      if (type === 'allow') expect(new URL(url).hostname).toMatch(/^(?:example\.org\.?|.+\.example\.net\.?)$/);
    }),
    { numRuns: 330 },
  );
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      expect(await decide(strict, value as Json)).toMatchObject({ type: 'deny' });
      expect(await decide(strict, { url: value as Json })).toMatchObject({ type: 'deny' });
    }),
  );
});
