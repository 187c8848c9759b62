import type { CompletionChecker } from '@holdfast/core';
import type { Completion } from '@holdfast/core/types';
import { expect, test, vi } from 'vitest';
import { allComplete, anyComplete, filesExist, toCompletionRule } from './completion.ts';
import { folderOf, guidanceContext } from './test-guidance.ts';

const invalid = expect.objectContaining({ code: 'prompt.invalid', reason: 'completion' });
const context = guidanceContext();

function checker(name: string, answer: Completion | Error): CompletionChecker {
  return {
    name,
    check: vi.fn(() => {
      if (answer instanceof Error) throw answer;
      return answer;
    }),
  };
}

const done = (name: string) => checker(name, { complete: true });
const lacking = (name: string) => checker(name, { complete: false, feedback: `${name} is missing.` });

function ask(made: CompletionChecker, filesystem = context.filesystem): Promise<Completion> {
  return Promise.resolve(made.check({ ...context, filesystem }));
}

test.each([
  { what: 'all there', paths: ['a', 'b/c'], there: ['a', 'b/c'], missing: undefined },
  { what: 'one missing', paths: ['a', 'b'], there: ['a'], missing: '`b`' },
  { what: 'three missing', paths: ['a', 'b', 'c'], there: [], missing: '`a`, `b`, `c`' },
  { what: 'four missing', paths: ['a', 'b', 'c', 'd'], there: [], missing: '`a`, `b`, `c`, ...' },
  { what: 'none required', paths: [], there: [], missing: undefined },
  { what: 'a folder of the name', paths: ['b'], there: ['b/c'], missing: '`b`' },
])('K14: files, $what', async ({ paths, there, missing }) => {
  const answer = await ask(filesExist(paths), folderOf(...there));
  if (missing === undefined) expect(answer).toEqual({ complete: true });
  else {
    expect(answer).toEqual({
      complete: false,
      feedback: `The work is not done. Create these files before you stop: ${missing}`,
    });
  }
});

test('without a filesystem no file is there, and that is said', async () => {
  expect(await ask(filesExist(['a', 'b']))).toEqual({
    complete: false,
    feedback: 'There is no filesystem, so these files cannot be there: `a`, `b`',
  });
  expect(await ask(filesExist([]))).toEqual({ complete: true });
});

test('the list of files may be changed afterwards', async () => {
  const paths = ['a'];
  const made = filesExist(paths);
  paths.push('b');
  expect(await ask(made, folderOf('a'))).toEqual({ complete: true });
});

test('a path that the filesystem refuses is an error of the checker', async () => {
  await expect(ask(filesExist(['../a']), folderOf('a'))).rejects.toThrow('leaves the folder');
});

test('K16: all, of which the first that lacks something speaks, and nobody after it is asked', async () => {
  const last = lacking('third');
  expect(await ask(allComplete([done('first'), lacking('second'), last]))).toEqual({
    complete: false,
    feedback: 'second is missing.',
  });
  expect(last.check).not.toHaveBeenCalled();
  expect(await ask(allComplete([done('first'), done('second')]))).toEqual({ complete: true });
  await expect(ask(allComplete([checker('broken', new Error('No.')), done('second')]))).rejects.toThrow('No.');
});

test('any, of which one is enough and nobody after it is asked', async () => {
  const last = lacking('third');
  const broken = checker('broken', new Error('No.'));
  expect(await ask(anyComplete([broken, lacking('first'), done('second'), last]))).toEqual({ complete: true });
  expect(last.check).not.toHaveBeenCalled();
  expect(await ask(anyComplete([lacking('first'), broken]))).toEqual({
    complete: false,
    feedback: 'One of these is enough:\n- first is missing.\n- `broken` could not check: No.',
  });
  expect(await ask(anyComplete([lacking('only')]))).toEqual({ complete: false, feedback: 'only is missing.' });
});

test('combinations nest, and everybody is shown the same', async () => {
  const inner = lacking('inner');
  const made = allComplete([anyComplete([inner, done('other')]), filesExist(['a'])]);
  expect(await ask(made, folderOf('a'))).toEqual({ complete: true });
  expect(inner.check).toHaveBeenCalledWith(expect.objectContaining({ text: '', calls: 0 }));
});

test('a rule lets a run be sent back three times, unless the prompt says otherwise', () => {
  const files = filesExist(['a']);
  expect(toCompletionRule(files)).toEqual({ checker: files, maxReturns: 3 });
  expect(toCompletionRule(files, 0).maxReturns).toBe(0);
});

test.each([
  ['all of none', () => allComplete([])],
  ['any of none', () => anyComplete([])],
  ['a path without a name', () => filesExist(['a', ''])],
  ['a bad name', () => allComplete([done('Not so')])],
  // As a program without types may make it.
  ['a checker that checks nothing', () => anyComplete([{ name: 'own' } as CompletionChecker])],
  ['a negative number of returns', () => toCompletionRule(filesExist([]), -1)],
  ['half a return', () => toCompletionRule(filesExist([]), 0.5)],
  ['a rule with a bad name', () => toCompletionRule(done('-'))],
])('%s is refused', (_, make) => {
  expect(make).toThrow(invalid);
});
