import { describe, expect, test } from 'vitest';
import { importDspy } from './import.ts';
import { answer, fileOf, problemsOf, readFixture, stateOf } from './test-states.ts';

/** `pickle.dumps({'demos': []}, protocol=n)` of Python. */
const pickles = [
  { protocol: 0, hex: '28647030 0a566465 6d6f730a 70310a28 6c70320a 732e' },
  { protocol: 1, hex: '7d7100580500000064656d6f7371015d7102732e' },
  { protocol: 2, hex: '80027d7100580500000064656d6f7371015d7102732e' },
  { protocol: 3, hex: '80037d7100580500000064656d6f7371015d7102732e' },
  { protocol: 4, hex: '8004950e000000000000007d948c0564656d6f73945d94732e' },
  { protocol: 5, hex: '8005950e000000000000007d948c0564656d6f73945d94732e' },
];

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const pairs = hex.replaceAll(' ', '').match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

function binaryOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

describe('a pickle is rejected unread', () => {
  test.each(pickles)('of protocol $protocol, as bytes and as any decoding of them', async ({ hex, protocol }) => {
    const bytes = bytesOf(hex);
    const sources = [
      bytes,
      binaryOf(bytes),
      new TextDecoder().decode(bytes),
      ...(protocol < 2 ? [] : [btoa(binaryOf(bytes))]),
    ];
    for (const source of sources) {
      const problems = await problemsOf(source, { signature: answer });
      expect(problems).toMatchObject([{ code: 'dspy.invalid', reason: 'pickle', path: '' }]);
    }
  });

  test.each(['program.pkl', '/srv/models/qa.PKL', 'C:\\qa.pickle\n', 'a b.pkl'])('as the path %s', async (source) => {
    expect(await problemsOf(source, { signature: answer })).toMatchObject([{ code: 'dspy.invalid', reason: 'pickle' }]);
  });

  test.each([
    { what: 'the metadata of a pickled program', text: '{"dependency_versions": {"dspy": "3.0.0"}}' },
    { what: 'a path instead of a predictor', text: fileOf({ qa: 'program.pkl' }) },
    { what: 'a path next to the demos', text: fileOf({ ...stateOf(), program: 'program.pkl' }) },
    {
      what: 'base64 next to the demos',
      text: fileOf({ qa: { ...stateOf(), module: btoa(binaryOf(bytesOf(pickles[4]?.hex ?? ''))) } }),
    },
  ])('a state that refers to one: $what', async ({ text }) => {
    expect(await problemsOf(text, { signature: answer })).toMatchObject([{ code: 'dspy.invalid', reason: 'pickle' }]);
  });

  test('but not a demo that mentions one', async () => {
    const demos = [{ question: 'Where is it?', answer: 'program.pkl' }];
    expect((await importDspy(fileOf(stateOf({ demos })), { signature: answer })).type).toBe('imported');
  });
});

test.each(['sums.json', '/srv/models/qa.JSON\n', 'C:\\a b.json'])('the path %j is not the content', async (source) => {
  expect(await problemsOf(source, { signature: answer })).toMatchObject([
    { code: 'dspy.invalid', reason: 'state', path: '', message: expect.stringMatching(/^This is a file path/) },
  ]);
  expect(await problemsOf('"qa.json"', { signature: answer })).toMatchObject([
    { message: 'A DSPy state must be a JSON object.' },
  ]);
});

test('the digest covers the exact bytes', async () => {
  const text = readFixture('predict');
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${text} `));
  const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const imported = await importDspy(`${text} `, { signature: answer });
  expect(imported).toMatchObject({ report: { digest: `sha256:${hex}` } });
});

test.each([[null], [5], [{}], [[]]])('a value that is not text is rejected: %j', async (value) => {
  expect(await importDspy(value as unknown as string, { signature: answer })).toMatchObject({
    type: 'refused',
    problems: [{ code: 'dspy.invalid', reason: 'state', path: '', message: expect.stringContaining('unparsed') }],
  });
});
