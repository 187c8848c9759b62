import type { Json } from '@holdfast/core';
import { describeCommand, memoryDisk } from '@holdfast/facts';
import { packPolicies } from '@holdfast/policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, decideFacts, preset } from './fixtures.ts';
import { type NetworkEgressOptions, networkEgress } from './index.ts';

const strict: NetworkEgressOptions = {
  ...preset('strict'),
  hosts: ['example.org', '*.example.net', '[2606:4700::1111]', '8.8.8.8'],
};
/** All hosts and schemes, so that only addresses and spellings are denied. */
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
])('is allowed: %s', async (url) => {
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
])('host is not listed: %s', async (url) => {
  expect(await decide(strict, { url })).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('is not allowed'),
  });
  expect(await decide({ ...strict, unlisted: 'ask' }, { url })).toMatchObject({ type: 'ask' });
});

test.each([
  'http://example.org/',
  'ftp://example.org/',
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
])('is always denied: %s', async (url) => {
  expect(await decide(strict, { url })).toMatchObject({ type: 'deny' });
  expect((await decide({ ...strict, unlisted: 'ask', unclear: 'ask' }, { url })).type).not.toBe('allow');
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

test('private addresses are allowed exactly as listed', async () => {
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
  { input: { url: 'https://example.org', body: 'a' }, type: 'deny' },
  {
    input: { url: 'https://example.org', method: 'POST', body: 'a' },
    type: 'allow',
    options: { sendTo: ['example.org'] },
  },
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

test('private networks need approval if configured; cloud metadata is always denied', async () => {
  const options: NetworkEgressOptions = { ...open, local: 'ask' };
  for (const host of ['localhost', '127.0.0.1', '10.1.2.3', 'router.local', '[::1]'])
    expect(await decide(options, { url: `http://${host}/` })).toMatchObject({ type: 'ask' });
  for (const host of ['169.254.169.254', 'metadata.google.internal', '[fd00:ec2::254]', '0.0.0.0'])
    expect({ host, ...(await decide(options, { url: `http://${host}/` })) }).toMatchObject({
      type: host.startsWith('[') ? 'ask' : 'deny',
    });
});

test.each<{ command: string; recommended: string; strict: string }>([
  { command: 'npm ci', recommended: 'allow', strict: 'deny' },
  { command: 'git fetch', recommended: 'allow', strict: 'deny' },
  { command: 'git push', recommended: 'ask', strict: 'deny' },
  { command: 'curl https://example.org/a', recommended: 'ask', strict: 'allow' },
  { command: 'curl -d @a.txt https://example.org/a', recommended: 'ask', strict: 'deny' },
  { command: 'curl "$URL"', recommended: 'ask', strict: 'deny' },
  { command: 'curl http://169.254.169.254/', recommended: 'deny', strict: 'deny' },
  { command: 'cat < /dev/tcp/example.org/80', recommended: 'ask', strict: 'deny' },
  { command: 'ls', recommended: 'allow', strict: 'allow' },
  { command: 'eval "$x"', recommended: 'ask', strict: 'deny' },
  { command: 'npm test', recommended: 'allow', strict: 'deny' },
])('command $command: $recommended, with `strict` $strict', ({ command, ...expected }) => {
  const facts = describeCommand(command, {
    folder: '/w',
    workspace: '/w',
    disk: memoryDisk({ '/w/package.json': '{}' }),
  });
  expect(decideFacts(preset('recommended'), facts)).toMatchObject({ type: expected.recommended });
  expect(decideFacts(strict, facts)).toMatchObject({ type: expected.strict });
});

test('without facts a tool with external effects is denied with an explanation', () => {
  expect(decideFacts(strict, undefined)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('createFacts'),
  });
  expect(decideFacts(strict, undefined, 'state')).toEqual({ type: 'allow' });
});

test('reasons name the problem, and of a URL only its host', async () => {
  expect(await decide(strict, { url: 'https://example.com/?key=tulip' })).toEqual({
    type: 'deny',
    reason:
      'The host `example.com` is not allowed. Allowed hosts: `example.org`, `*.example.net`, `2606:4700::1111`, `8.8.8.8`.',
  });
  expect(await decide(strict, { url: 'https://ada:tulip@example.org/' })).toEqual({
    type: 'deny',
    reason: 'It is not clear what `fetch` does: cannot tell which address `fetch` requests.',
  });
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
  { tools: { fetch: 'url' } },
  { more: 1 },
])('rejects the options %j', (config) => {
  expect(() => packPolicies(networkEgress, { config: config as Record<string, Json> })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config' }),
  );
});

test('no spelling of a private address is allowed', async () => {
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
      // The last number holds all remaining octets.
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

test('any text and arguments get a decision, and allowed URLs lead to a listed host', async () => {
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
