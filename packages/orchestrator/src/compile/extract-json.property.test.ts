import type { Json, JsonObject } from '@holdfast/core';
import { decodeJson } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPlan } from '../plan/read.ts';
import { type Extraction, extractPlan } from './extract-json.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom(
    '}]',
    '{"nodes":[]}',
    '// no',
    '/*',
    "it's",
    '“so”',
    'a\nb\tc',
    '<think>',
    '</think>',
    '```',
    'True',
    '\\',
    '"',
  ),
);
const key = text.filter((name) => name !== '__proto__' && !name.startsWith('$from'));
const { value } = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom<Json>(null, true, false, 0, -1, 1.5, 1e21, -2e-7),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));

const node = fc.record({
  id: fc.nat(),
  tool: fc.stringMatching(/^[a-z_]{1,8}$/),
  inputs: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }),
});
const plan: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(node, { selector: ({ id }) => id, minLength: 1, maxLength: 4 })
  .map((nodes): JsonObject => ({ nodes, final_output_node: nodes[0]?.id ?? 0 }))
  .filter((json) => readPlan(json).type === 'plan');
const written = fc
  .tuple(plan, fc.constantFrom(undefined, 1, '\t'))
  .map(([json, indent]) => JSON.stringify(json, null, indent));

/** Text around plans that does not contain one. */
const prose = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 10 }).filter((some) => !/[{}<>"'[\]]/.test(some)),
      fc.constantFrom(
        '\n',
        '```',
        '```json\n',
        '~~~',
        '{maybe}',
        '{"city": "Paris"}',
        '{}',
        '{{STEPS.0}}',
        '{"a": b}',
        '"quoted"',
        '"{"',
      ),
      fc.constantFrom(
        "it's",
        '<b>',
        '[1, 2]',
        '{ "a": { "b": [1, } ] }',
        '\ufeff',
        '\u00a0',
        'nodes: [',
        '</p>',
        '{"tool":"a",}',
      ),
      fc.constantFrom(
        '{"plan": 1}',
        '{"plan": "none"}',
        "{'x': '}'}",
        '{city: "Oslo"}',
        '// no comment',
        '/* nor this */',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(' '));
const thought = fc
  .tuple(
    fc.oneof(prose, written, fc.constantFrom('{"nodes":[', '{', '"', '{"a":"')),
    fc.constantFrom('think', 'thinking', 'REASONING'),
  )
  .map(([inner, name]) => `<${name}>${inner.replace(/<\/?[a-z]+>/gi, '')}</${name}>`);

const jsonOf = (extraction: Extraction): string | undefined =>
  extraction.type === 'found' ? extraction.json : undefined;

test('a plan is found verbatim, whatever surrounds it', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(prose, thought), { maxLength: 3 }), written, prose, (before, json, after) => {
      // Only text after the last reasoning counts, so nothing with a plan follows.
      expect(extractPlan(`${before.join('\n')}\n${json}\n${after}`)).toMatchObject({
        type: 'found',
        json,
        warnings: [],
      });
    }),
    { numRuns: 80 },
  );
});

test('a plan within reasoning is never the answer', () => {
  const drafts = fc.array(
    fc.oneof(
      prose,
      written,
      written.map((json) => json.slice(0, -9)),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(fc.boolean(), fc.array(drafts, { minLength: 1, maxLength: 2 }), plan, (opened, thoughts, json) => {
      const answer = JSON.stringify({ ...json, _final: true });
      const reasoning = thoughts.map((parts) => `${opened ? '<think>' : ''}${parts.join(' ')}</think>`).join('\n');
      const extraction = extractPlan(`${reasoning}\n${answer}`);
      if (extraction.type === 'found') expect(extraction.json).toBe(answer);
    }),
    { numRuns: 80 },
  );
});

test('a plan that is cut off anywhere is never found, nor is a plan inside it', () => {
  fc.assert(
    fc.property(prose, plan, plan, fc.nat(), (before, outer, inner, number) => {
      const [first, ...others] = outer['nodes'] as readonly JsonObject[];
      const nested = { nodes: [{ ...first, inputs: { plan: inner, list: [inner] } }, ...others], final_output_node: 0 };
      const json = JSON.stringify(nested);
      const cut = json.slice(0, 2 + (number % (json.length - 2)));
      const extraction = extractPlan(`${before}\n${cut}`);
      expect(readPlan(jsonOf(extraction) ?? '').type).toBe('invalid');
    }),
    { numRuns: 80 },
  );
});

/** Chooses between spellings that JSON allows, and those that models use although it does not. */
interface Pen {
  choose<Value>(choices: readonly Value[]): Value;
}

function scrawl(json: Json, pen: Pen): string {
  const blank = (): string => pen.choose(['', '', '', ' ', '\n', '\u00a0', '\t\ufeff ', '/* { " */', '// ]\n']);
  if (Array.isArray(json))
    return scrawlList(
      '[]',
      (json as readonly Json[]).map((item) => scrawl(item, pen)),
      { pen, blank },
    );
  if (typeof json === 'object' && json !== null) {
    const members = Object.entries(json).map(
      ([name, inner]) => `${scrawlKey(name, pen)}${blank()}:${blank()}${scrawl(inner, pen)}`,
    );
    return scrawlList('{}', members, { pen, blank });
  }
  if (typeof json === 'string') return scrawlText(json, pen);
  const literals = new Map<Json, string>([
    [true, 'True'],
    [false, 'False'],
    [null, 'None'],
  ]);
  return pen.choose([JSON.stringify(json), literals.get(json) ?? JSON.stringify(json)]);
}

function scrawlList(
  brackets: string,
  items: readonly string[],
  { pen, blank }: { readonly pen: Pen; readonly blank: () => string },
): string {
  const comma = items.length > 0 ? pen.choose(['', ',', ', ']) : '';
  return `${brackets[0]}${blank()}${items.join(`${blank()},${blank()}`)}${blank()}${comma}${blank()}${brackets[1]}`;
}

function scrawlKey(name: string, pen: Pen): string {
  return /^(?!(?:[Tt]rue|[Ff]alse|None|null)$)[A-Za-z_$][\w$]*$/.test(name)
    ? pen.choose([name, scrawlText(name, pen)])
    : scrawlText(name, pen);
}

function scrawlText(content: string, pen: Pen): string {
  const escaped = JSON.stringify(content).slice(1, -1);
  const inSingle = escaped.replaceAll('\\"', pen.choose(['"', '\\"'])).replaceAll("'", "\\'");
  const inDouble = escaped.replaceAll("'", pen.choose(["'", "\\'"]));
  // A backslash before an `n` may itself be escaped.
  const raw = escaped.includes('\\\\') ? inDouble : inDouble.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  const inCurly = /["“”]/.test(content) ? raw : raw.replaceAll("\\'", "'");
  return pen.choose([
    `"${inDouble}"`,
    `"${raw}"`,
    `'${inSingle}'`,
    /["“”]/.test(content) ? `"${raw}"` : `“${inCurly}”`,
  ]);
}

test('a repaired plan has the intended value', () => {
  fc.assert(
    fc.property(prose, plan, fc.infiniteStream(fc.nat({ max: 999 })), prose, (before, json, stream, after) => {
      const pen: Pen = {
        choose: (choices) => choices[(stream.next().value ?? 0) % choices.length] as (typeof choices)[number],
      };
      const extraction = extractPlan(`${before}\n${scrawl(json, pen)}\n${after}`);
      expect(decodeJson(jsonOf(extraction) ?? 'null')).toEqual(json);
    }),
    { numRuns: 170 },
  );
});

const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        "'",
        '“',
        '”',
        '\\',
        ' ',
        '\n',
        '/',
        '//',
        '/*',
        '*/',
        '<think>',
        '</think>',
      ),
      fc.constantFrom(
        '"nodes"',
        '"id"',
        '"tool"',
        'nodes',
        '"plan"',
        'True',
        'null',
        '0',
        '-',
        '{"nodes":[',
        '"{\\"',
        '\\"',
        '\u00a0',
      ),
    ),
    { maxLength: 40 },
  )
  .map((tokens) => tokens.join(''));

test('the result is JSON from the text, without invented keys', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        soup,
        fc.tuple(soup, written, soup).map((parts) => parts.join('')),
      ),
      (answer) => {
        const extraction = extractPlan(answer);
        expect(extraction.steps).toBeLessThanOrEqual(17 * answer.length + 10_000);
        if (extraction.type !== 'found') return;
        expect(() => JSON.parse(extraction.json)).not.toThrow();
        if (extraction.warnings.length === 0) expect(answer).toContain(extraction.json);
        // Only characters of the text, in their order.
        const letters = (some: string): string => some.replace(/[^a-z0-9]/gi, '').toLowerCase();
        expect(letters(answer)).toEqual(expect.stringContaining(letters(extraction.json)));
      },
    ),
    { numRuns: 500 },
  );
});
