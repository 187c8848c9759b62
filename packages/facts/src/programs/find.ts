import type { Place } from '@holdfast/core';
import { type Field, known, show } from '../script/field.ts';
import type { Call, Result, Runner } from '../script/types.ts';
import { applyRole } from './roles.ts';
import { fillHole } from './wrappers.ts';

const ending = /^(?:;|\+)$/;
const quiet =
  /^-(?:i?name|i?path|i?wholename|i?regex|regextype|type|xtype|(?:max|min)depth|size|empty|[amc](?:time|min)|newer\w*|perm|user|group|not|o|or|a|and|prune|print0?|xdev|mount|follow|executable|readable|writable)$/;

/** `find`: `-name` limits the file names that its commands get. */
export function runFind(call: Call, runner: Runner): Result | undefined {
  const { words, state } = call;
  const start = words.findIndex(({ text, known: isKnown }) =>
    isKnown ? /^[-(!,]/.test(text) && !/^-(?:[HLPE]|O\d?|D)$/.test(text) : false,
  );
  const roots = (start === -1 ? words : words.slice(0, start)).filter(({ text }) => !/^-[HLPEOD]/.test(text));
  const tests = start === -1 ? [] : words.slice(start);
  if (tests.some(({ text, known: isKnown }) => !isKnown && text === ''))
    runner.unclear('words', 'cannot tell what `find` does');
  const follows = words.some(({ text }) => text === '-L' || text === '-follow') ? 'all' : 'files';
  const names = foundIn(roots.length === 0 ? [known('.')] : roots, tests, { state, runner, follows });
  for (let index = 0; index < tests.length; index += 1) {
    const { text } = tests[index] as Field;
    const value = tests[index + 1];
    if (/^-(?:fprintf?|fls|fprint0)$/.test(text) && value !== undefined)
      applyRole('write', value, { call, runner, recursion: undefined, name: text });
    if (text === '-files0-from' && value !== undefined)
      applyRole('list', value, { call, runner, recursion: undefined, name: text });
    if (text === '-delete')
      for (const name of names) applyRole('delete', name, { call, runner, recursion: undefined, name: text });
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) continue;
    const length = tests.slice(index + 1).findIndex((word) => word.known && ending.test(word.text));
    if (length < 1) {
      runner.unclear('code', 'cannot tell where the command of `find` ends');
      continue;
    }
    const inner = tests.slice(index + 1, index + 1 + length).flatMap((word) => fillHole(word, '{}', names));
    const within = state.forProcess();
    if (text.endsWith('dir')) within.folders = undefined;
    const around = { ...call.around, external: true, depth: call.around.depth + 1 };
    runner.facts.readRounds(() => runner.runWords(inner, within.clone(), around));
    index += length;
  }
  // Others print something else beside the names.
  const isPlain = tests.every(({ text, known: isKnown }) => isKnown && (!/^-[a-z]/.test(text) || quiet.test(text)));
  return { decides: [], output: { given: true, fetched: false, ...(isPlain ? { names } : {}) } };
}

interface Finding {
  readonly state: Call['state'];
  readonly runner: Runner;
  readonly follows: 'files' | 'all';
}

/** A field for the files that are found. */
function foundIn(
  roots: readonly Field[],
  tests: readonly Field[],
  { state, runner, follows }: Finding,
): readonly Field[] {
  const only = namesOf(tests);
  return roots.flatMap((root) => {
    if (!root.known) return [{ ...root, splits: true }];
    const { text } = root;
    const folders = text.startsWith('/') ? [text] : state.folders?.map((folder) => `${folder}/${text}`);
    if (folders === undefined) return [{ text, known: false, splits: true }];
    return folders.map((folder): Field => {
      const place = runner.places.place(folder.replace(/\/+$/, '') || '/', {
        skips: [],
        follows,
        ...(only === undefined ? {} : { only }),
      });
      if (place === undefined) return { text, known: false, splits: true };
      return { text: show(text), known: false, splits: true, tree: place satisfies Place };
    });
  });
}

/** The patterns of `-name`, if no other test can match a file. */
function namesOf(tests: readonly Field[]): readonly string[] | undefined {
  const end = tests.findIndex(({ text }) =>
    /^-(?:exec|execdir|ok|okdir|print.*|delete|fprint.*|fls|ls|quit)$/.test(text),
  );
  const expression = end === -1 ? tests : tests.slice(0, end);
  const isPlain = tests.every(({ text }) => !/^(?:-o|-or|!|-not|,|\(|\)|-prune)$/.test(text));
  if (!isPlain) return undefined;
  const at = expression.findIndex(({ text }) => text === '-name' || text === '-iname');
  const pattern = expression[at + 1];
  if (at === -1 || pattern === undefined || !pattern.known || pattern.matched === true) return undefined;
  if (expression[at]?.text === '-name') return [pattern.text];
  // Brackets that match either case.
  return [pattern.text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)];
}
