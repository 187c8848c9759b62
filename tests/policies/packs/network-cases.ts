import type { PackCases, PolicyCall, PolicyCase } from '@holdfast/testing';

const get = (url: string): PolicyCall => ({ tool: 'fetch', input: { url } });
const answers = (answer: PolicyCase['answer'], urls: readonly string[]): readonly PolicyCase[] =>
  urls.map((url) => ({ call: get(url), answer }));

const notPublic = [
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://localhost/',
  'https://metadata.google.internal/',
];
const malformed = ['https://ada@example.org/', 'file:///etc/passwd', 'https://example.org:22/', 'example.org'];
const hosts = ['example.org', '*.example.net'];

export const cases: PackCases = {
  presets: {
    recommended: {
      cases: [
        ...answers('ask', ['https://example.org/', 'http://example.org/', 'https://8.8.8.8/']),
        ...answers('deny', [...notPublic, ...malformed]),
        { call: { tool: 'fetch', input: { url: 'https://example.org/', method: 'POST' } }, answer: 'ask' },
        { call: { tool: 'fetch', input: {} }, answer: 'deny', reason: 'must be a URL' },
        { call: { tool: 'search', input: { url: 'https://127.0.0.1/' } }, answer: 'allow' },
      ],
    },
    strict: {
      cases: [
        ...answers('deny', [...notPublic, ...malformed, 'https://example.org/', 'http://example.org/']),
        { call: { tool: 'search', input: {} }, answer: 'allow' },
      ],
    },
  },
  configs: [
    {
      title: 'hosts',
      preset: 'strict',
      config: { hosts },
      // A host in capitals is the same host, and what stands after it is for the server. Without a method it is a GET.
      different: ['missing'],
      cases: [
        ...answers('allow', ['https://example.org/a', 'https://EXAMPLE.org./', 'https://a.example.net/']),
        ...answers('deny', [...notPublic, ...malformed, 'https://example.com/', 'https://example.net/']),
        { call: { tool: 'fetch', input: { url: 'https://example.org/', method: 'PUT' } }, answer: 'deny' },
      ],
    },
    {
      title: 'a tool that says where its answer came from',
      config: { hosts, tools: { read_page: { url: 'page', finalUrl: 'url' } } },
      cases: [
        { call: { tool: 'read_page', input: { page: 'https://127.0.0.1/' } }, answer: 'deny' },
        { call: { tool: 'read_page', input: { page: 'https://example.org/' } }, answer: 'allow' },
      ],
    },
  ],
};
