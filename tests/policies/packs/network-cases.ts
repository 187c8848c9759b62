import { createFacts, fetchFacts, shellFacts } from '@holdfast/facts';
import type { PackCases, PolicyCall, PolicyCase } from '@holdfast/testing';

const describers = [shellFacts(), fetchFacts()];
const facts = createFacts({ describers, view: { folder: '/w', workspace: '/w' } });

const get = (url: string): PolicyCall => ({ tool: 'fetch', input: { url } });
const run = (command: string): PolicyCall => ({ tool: 'bash', input: { command } });
const answers = (answer: PolicyCase['answer'], calls: readonly PolicyCall[]): readonly PolicyCase[] =>
  calls.map((call) => ({ call, answer }));

const local = ['https://127.0.0.1/', 'https://0x7f.1/', 'https://localhost/'].map(get);
const notPublic = ['https://[::ffff:10.0.0.1]/', 'https://169.254.169.254/latest/meta-data/'].map(get);
const metadata = get('https://metadata.google.internal/');
const malformed = ['https://ada@example.org/', 'https://example.org:22/', 'example.org'].map(get);
const post: PolicyCall = { tool: 'fetch', input: { url: 'https://example.org/', method: 'POST' } };
const hosts = ['example.org', '*.example.net'];

export const cases: PackCases = {
  presets: {
    recommended: {
      facts,
      // Another program, of the workspace.
      different: ['path'],
      cases: [
        ...answers('allow', [get('https://registry.npmjs.org/a'), run('npm ci'), run('git fetch'), run('ls')]),
        ...answers('ask', ['https://example.org/', 'http://example.org/', 'https://8.8.8.8/'].map(get)),
        ...answers('ask', [...local, ...malformed, post, run('git push'), run('curl $x')]),
        ...answers('deny', [...notPublic, metadata]),
        { call: { tool: 'fetch', input: {} }, answer: 'ask', reason: 'cannot tell which address' },
        { call: { tool: 'search', input: { url: 'https://127.0.0.1/' } }, answer: 'allow' },
      ],
    },
    strict: {
      facts,
      cases: [
        ...answers('deny', [
          ...local,
          ...notPublic,
          metadata,
          ...malformed,
          get('https://example.org/'),
          run('npm ci'),
        ]),
        { call: { tool: 'search', input: {} }, answer: 'allow' },
      ],
    },
  },
  configs: [
    {
      title: 'hosts',
      preset: 'strict',
      config: { hosts, sendTo: ['origin'] },
      facts,
      // A host in capitals is the same host, and what stands after it is for the server. Without a method it is a GET.
      different: ['missing'],
      cases: [
        ...answers('allow', ['https://example.org/a', 'https://EXAMPLE.org./', 'https://a.example.net/'].map(get)),
        ...answers('deny', [...local, ...notPublic, ...malformed]),
        ...answers('deny', ['https://example.com/', 'https://example.net/'].map(get)),
        { call: { tool: 'fetch', input: { url: 'https://example.org/', method: 'PUT' } }, answer: 'deny' },
      ],
    },
  ],
};
