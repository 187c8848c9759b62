import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadTools } from '../load/tools.ts';
import { toolFile } from '../test-project.ts';
import { startWatch } from './test-watch.ts';

type Content =
  | { readonly type: 'tool'; readonly name: string; readonly answer: number; readonly imports: boolean }
  | { readonly type: 'broken' }
  | { readonly type: 'gone' };

const toolFiles = ['a.mjs', 'b.mjs', 'c.mjs'] as const;
const content: fc.Arbitrary<Content> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('tool' as const),
      // Two of them are hard to distinguish.
      name: fc.constantFrom('one', 'two', 'three', 't_wo'),
      answer: fc.nat({ max: 2 }),
      imports: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'broken' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'gone' as const }) },
);
const helper = fc.oneof(fc.nat({ max: 2 }), fc.constantFrom('broken' as const, 'gone' as const));
const edit = fc.record({ tools: fc.dictionary(fc.constantFrom(...toolFiles), content), helper: fc.option(helper) });

function toText(one: Content): string | null {
  if (one.type === 'gone') return null;
  if (one.type === 'broken') return 'export const METADATA = {';
  const { name, answer, imports } = one;
  return imports
    ? toolFile(name, { code: "import { word } from './_word.mjs';", body: `return ${answer} * 10 + word;` })
    : toolFile(name, { body: `return ${answer};` });
}

interface InForce {
  readonly name: string;
  readonly answer: unknown;
  /** True if it can survive a change of its file. */
  readonly isCopied: boolean;
}
const toKey = (name: string): string => name.replace('_', '');

/** The expected tools: those of a load, plus last valid versions. */
function expectAfter(
  former: ReadonlyMap<string, InForce>,
  now: { readonly contents: ReadonlyMap<string, Content>; readonly helper: number | 'broken' | 'gone' },
  loaded: ReadonlySet<string>,
): Map<string, InForce> {
  const next = new Map<string, InForce>();
  const names = new Set<string>();
  const put = (file: string, one: InForce): void => {
    if (names.has(toKey(one.name))) return;
    next.set(file, one);
    names.add(toKey(one.name));
  };
  const later: [string, InForce][] = [];
  for (const [file, one] of now.contents) {
    if (one.type !== 'tool' || !loaded.has(file)) continue;
    const { name, answer, imports } = one;
    if (!imports) put(file, { name, answer, isCopied: true });
    else if (typeof now.helper === 'number') put(file, { name, answer: answer * 10 + now.helper, isCopied: true });
    else {
      const failing = { name, answer: 'threw tool.file.import_failed', isCopied: false };
      later.push([file, failing]);
    }
  }
  for (const [file, one] of former) {
    const isThere = (now.contents.get(file) ?? { type: 'gone' }).type !== 'gone';
    if (isThere && one.isCopied && !next.has(file)) put(file, one);
  }
  for (const [file, one] of later) if (!next.has(file)) put(file, one);
  return next;
}

test('property: after any edits the tools are those of a load, plus last valid versions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), async (edits) => {
      await using watch = await startWatch({});
      const contents = new Map<string, Content>();
      let inForce = new Map<string, InForce>();
      let helperNow: number | 'broken' | 'gone' = 'gone';
      for (const { tools, helper: helperNext } of edits) {
        const files: Record<string, string | null> = {};
        for (const [file, one] of Object.entries(tools)) {
          if (one.type !== 'gone' || (contents.get(file) ?? one).type !== 'gone')
            files[`plugins/${file}`] = toText(one);
          contents.set(file, one);
        }
        if (helperNext !== null) {
          if (helperNext !== 'gone')
            files['plugins/_word.mjs'] = `export const word = ${helperNext === 'broken' ? '' : helperNext};`;
          else if (helperNow !== 'gone') files['plugins/_word.mjs'] = null;
          helperNow = helperNext;
        }
        const before = watch.watched.tools;
        await watch.edit(files);
        const loaded = await loadTools(watch.project.plugins, { isolation: 'in-process' });
        const good = new Set(loaded.files.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])));
        const expected = expectAfter(inForce, { contents, helper: helperNow }, good);
        const inOrder = [...expected].sort(([left], [right]) => (left < right ? -1 : 1));
        expect(Object.entries(await watch.answers())).toEqual(inOrder.map(([, { name, answer }]) => [name, answer]));
        // Every error of a load is reported too.
        for (const { code, file } of loaded.diagnostics) expect(watch.codes().join()).toContain(`${file} ${code}`);
        if (JSON.stringify([...inForce].sort()) !== JSON.stringify(inOrder))
          expect(watch.watched.tools).not.toBe(before);
        const steady = watch.watched.tools;
        await watch.watched.reload();
        expect(watch.watched.tools).toBe(steady);
        inForce = expected;
      }
    }),
    { numRuns: 10 },
  );
});
