import type { Tool } from '@holdfast/core';
import { type Describer, defineTool } from '@holdfast/core';
import { createFacts, noFacts } from '@holdfast/facts';
import type { PackCases, PolicyCall } from '@holdfast/testing';
import * as v from 'valibot';

function tool(name: string, effects: Tool['effects']): Tool {
  return defineTool({
    name,
    description: 'Stands in for a tool.',
    inputSchema: v.looseObject({}),
    effects,
    execute: () => null,
  });
}

const tools = [tool('pay', 'external'), tool('mail', 'external'), tool('note', 'state'), tool('search', 'none')];
const pay = (input: Readonly<Record<string, unknown>>): PolicyCall => ({ tool: 'pay', input: input as never });
const mail: PolicyCall = { tool: 'mail', input: { to: 'ada' } };

const hostOf = new Map([
  ['mail', 'mail.example'],
  ['pay', 'bank.example'],
]);
const describer: Describer = {
  name: 'stand-ins',
  describe({ tool }) {
    const host = hostOf.get(tool);
    return host === undefined ? noFacts : { ...noFacts, hosts: [{ scheme: 'https', host, sends: true }] };
  },
};
const facts = createFacts({ describers: [describer], view: { folder: '/w', workspace: '/w' } });

const harmless = ['note', 'search'].map((name) => ({ call: { tool: name }, answer: 'allow' }) as const);

export const cases: PackCases = {
  presets: {
    recommended: {
      tools,
      facts,
      cases: [
        ...harmless,
        { call: mail, answer: 'ask', reason: '`mail` has not been used in this session before.' },
        { title: 'used once', after: [mail], call: { tool: 'mail', input: { to: 'eve' } }, answer: 'allow' },
        { title: 'another tool', after: [mail], call: pay({ euros: 1 }), answer: 'ask' },
        { title: 'refused once', after: [{ ...mail, outcome: 'denied' }], call: mail, answer: 'ask' },
      ],
    },
    strict: {
      tools,
      facts,
      cases: [
        ...harmless,
        { call: mail, answer: 'ask', reason: '`mail` always needs approval.' },
        { title: 'the same again', after: [mail], call: mail, answer: 'ask' },
      ],
    },
  },
  configs: [
    {
      title: 'rules',
      preset: 'strict',
      config: {
        always: [{ sends: 'mail.example' }],
        rules: [
          { tool: 'pay', argument: 'euros', above: 100, reason: 'The budget is 100.' },
          { tool: 'pay', argument: 'to', matches: 'eve*' },
          { tool: 'note', argument: 'kind', in: ['public', 7] },
          { tool: 'note', argument: 'folder.path', equals: 'etc/passwd' },
          { tool: 'note', argument: 'stock', below: 3 },
          { tool: 'search', argument: 'within', missing: true },
        ],
      },
      tools,
      facts,
      // Most of these rules are about what an argument is, and say nothing of a call without it.
      different: ['missing'],
      cases: [
        { call: mail, answer: 'ask' },
        { call: pay({ euros: 100, to: 'ada' }), answer: 'allow' },
        // A payment to another person is another payment.
        { call: pay({ euros: 101, to: 'ada' }), answer: 'ask', reason: '`euros` is above 100. The budget is 100.' },
        { call: pay({ euros: '5', to: 'ada' }), answer: 'ask', reason: 'is not a number' },
        { call: pay({ to: 'ada' }), answer: 'ask', reason: 'is not a number' },
        {
          call: pay({ euros: 1, to: 'Eve' }),
          answer: 'ask',
          reason: '`to` matches `eve*`',
          different: ['unicode', 'path'],
        },
        { call: { tool: 'note', input: { kind: 'private', stock: 3 } }, answer: 'allow' },
        {
          call: { tool: 'note', input: { kind: 'public', stock: 3 } },
          answer: 'ask',
          reason: '`kind` is `"public"`',
          different: ['unicode'],
        },
        { call: { tool: 'note', input: { kind: 7, stock: 3 } }, answer: 'ask', reason: '`kind` is `7`' },
        {
          call: { tool: 'note', input: { folder: { path: 'etc/passwd' }, stock: 3 } },
          answer: 'ask',
          different: ['unicode'],
        },
        { call: { tool: 'note', input: { kind: {}, stock: 3 } }, answer: 'ask', reason: 'cannot be compared' },
        { call: { tool: 'note', input: { stock: 2 } }, answer: 'ask', reason: '`stock` is below 3' },
        { call: { tool: 'search', input: { within: 'a' } }, answer: 'allow' },
        { call: { tool: 'search', input: { within: null } }, answer: 'ask', reason: '`within` is missing' },
      ],
    },
    {
      title: 'identical calls',
      config: { firstUse: [], always: [{ sends: '*.example' }] },
      tools,
      facts,
      cases: [
        { call: mail, answer: 'ask', reason: 'Approval also covers identical calls later' },
        { title: 'the same', after: [mail], call: mail, answer: 'allow' },
        {
          title: 'the same, otherwise written',
          after: [pay({ euros: 1, to: 'ada' })],
          call: pay({ to: 'ada', euros: 1 }),
          answer: 'allow',
        },
        { title: 'another one', after: [pay({ euros: 1 })], call: pay({ euros: 2 }), answer: 'ask' },
        { title: 'the same, refused', after: [{ ...mail, outcome: 'denied' }], call: mail, answer: 'ask' },
        { title: 'another tool', after: [pay({ to: 'ada' })], call: mail, answer: 'ask' },
      ],
    },
    {
      title: 'the first time',
      config: { firstUse: [{ sends: 'mail.example' }], rememberIdentical: false },
      tools,
      facts,
      cases: [
        {
          call: mail,
          answer: 'ask',
          reason: '`mail` has not done this in this session before: It sends data to `mail.example`.',
        },
        { title: 'done once', after: [mail], call: { tool: 'mail', input: { to: 'eve' } }, answer: 'allow' },
        { title: 'something else', call: pay({ euros: 1 }), answer: 'allow' },
        { title: 'refused once', after: [{ ...mail, outcome: 'denied' }], call: mail, answer: 'ask' },
      ],
    },
  ],
};
