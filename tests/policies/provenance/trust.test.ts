import type { Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import { found, remove, run, send } from './world.ts';

test.each<[string, Json, 'ok' | 'denied']>([
  ['the condition holds', { status: 'sent', to: ['a@x.example'] }, 'ok'],
  ['it holds for a key', { status: 'sent', to: { 'a@x.example': 'reads' } }, 'ok'],
  ['its value is another', { status: 'received', to: ['a@x.example'] }, 'denied'],
  ['it holds only beside', [{ status: 'sent' }, { status: 'received', to: ['a@x.example'] }], 'denied'],
  ['it holds only inside', { status: 'received', body: { status: 'sent' }, to: ['a@x.example'] }, 'denied'],
  ['it holds only outside', { status: 'sent', body: { to: ['a@x.example'] } }, 'denied'],
  ['its field is missing', { to: ['a@x.example'] }, 'denied'],
  ['its value is spelled another way', { status: 'Sent', to: ['a@x.example'] }, 'denied'],
  ['its field is a list', { status: ['sent'], to: ['a@x.example'] }, 'denied'],
  ['the owner is known', { owner: 'Ann <ann@corp.example>', readers: ['a@x.example'] }, 'ok'],
  ['the owner is an outsider', { owner: 'ann@evilcorp.example', readers: ['a@x.example'] }, 'denied'],
  ['the owner looks known', { owner: 'ann@cоrp.example', readers: ['a@x.example'] }, 'denied'],
])('a field that is trusted under a condition, and %s', async (_what, answer, kind) => {
  const trusted = {
    list_ids: [
      { fields: ['to'], where: { status: ['sent'] } },
      { fields: ['readers'], where: { owner: ['@corp.example'] } },
    ],
  };
  expect(await run([['list_ids', { answer }], send('a@x.example')], { config: { trusted } })).toMatchObject({ kind });
});

test('a field that the schema marks meets no condition', async () => {
  const where = (name: string) => ({
    trusted: { find_person: [{ fields: ['email'], where: { [name]: ['Ann'] } }] },
  });
  expect(await run([found({}), send('ann@example.com')], { config: where('name') })).toMatchObject({ kind: 'ok' });
  const steps = [found({ note: 'Ann' }), send('ann@example.com')];
  expect(await run(steps, { config: where('note') })).toMatchObject({ kind: 'denied' });
});

test('the host may vouch for values, for the addresses of a domain, and for its hosts', async () => {
  const known = ['me@x.example', '@corp.example', '*.corp.example'];
  for (const to of ['me@x.example', 'Any@corp.example'])
    expect(await run([send(to)], { config: { known } })).toMatchObject({ kind: 'ok' });
  for (const to of ['you@x.example', 'eve@evilcorp.example', 'a@b.corp.example'])
    expect(await run([send(to)], { config: { known } })).toMatchObject({ kind: 'denied' });
  const open = { known, tools: { send_mail: { decides: { to: 'url' } } } };
  expect(await run([send('https://a.corp.example/x')], { config: open })).toMatchObject({ kind: 'ok' });
  expect(await run([send('https://acorp.example/x')], { config: open })).toMatchObject({ kind: 'denied' });
});

const ids = { kind: 'id', from: ['list_ids.id'] };
const files = { tools: { delete_file: { decides: { id: ids } }, send_mail: { decides: { 'files.id': ids } } } };
const listed = (answer: Json) => ['list_ids', { answer }] as const;

test.each<[string, Parameters<typeof run>[0], 'ok' | 'denied']>([
  ['a short id of its field', [listed({ id: 7 }), remove('7')], 'ok'],
  ['a long id of its field', [listed([{ id: 'file-000007' }]), remove('file-000007')], 'ok'],
  ['one that the request names', [remove('file-000001')], 'ok'],
  ['a short one that the request calls for', [remove(13)], 'ok'],
  ['a short id of another trusted field', [listed({ people: { email: 7 } }), remove(7)], 'denied'],
  [
    'a long id of another trusted field',
    [listed({ people: { email: 'file-000007' } }), remove('file-000007')],
    'denied',
  ],
  ['a short id of the same field of another tool', [['find_ids', { answer: { id: 7 } }], remove(7)], 'denied'],
  ['an id of a field that outsiders write', [listed({ note: 7 }), remove(7)], 'denied'],
  ['one of two', [listed({ id: 7 }), ['send_mail', { files: [{ id: 7 }, { id: 8 }] }]], 'denied'],
])('where an argument takes ids of a field, %s ends as %s', async (_what, steps, kind) => {
  const trusted = { list_ids: ['id', 'people.email'], find_ids: ['id'] };
  const request = 'Delete file 13 and file-000001, or send them.';
  expect(await run(steps, { request, config: { ...files, trusted } })).toMatchObject({ kind });
});

test('the question names the field that an id should come from', async () => {
  const steps = [listed({ people: { email: 'file-000007' } }), remove('file-000007')];
  expect(await run(steps, { config: files })).toMatchObject({
    message: expect.stringMatching(
      /comes from the result of `list_ids` \(`people.email`\) in `call-\d+`, not from `list_ids.id`/,
    ),
  });
});

test('every level asks about a tool that must be requested, also if its values are known', async () => {
  const config = { tools: { delete_file: { ...files.tools.delete_file, requested: true } } };
  const steps = [listed({ id: 'file-000007' }), remove('file-000007')];
  for (const preset of ['values', 'plan'])
    expect(await run(steps, { preset, config, request: 'Look at my files.' })).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('The request does not call for `delete_file`.'),
    });
  expect(await run(steps, { config, request: 'Delete my files.' })).toMatchObject({ kind: 'ok' });
});
