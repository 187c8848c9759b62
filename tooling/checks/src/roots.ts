import { parseSync } from 'oxc-parser';
import type { Member, Repository } from './repository.ts';

/** The most names of one root. The kit only repeats names of other packages. */
const limits: ReadonlyMap<string, number> = new Map([
  ['@holdfast/core', 84],
  ['@holdfast/kit', 90],
]);
const usualLimit = 38;
const limitOfAll = 350;

/** Roots that export more than users name. What is rare belongs to a subpath, what only our packages use to `./internal`. */
export function findWideRoots({ members, files }: Repository): string[] {
  const roots = members.flatMap((member) => countNames(member, files));
  const problems = roots.flatMap(({ name, count }) => {
    const limit = limits.get(name) ?? usualLimit;
    return count > limit ? [`\`${name}\` exports ${count} names, more than ${limit}; move rare ones to a subpath`] : [];
  });
  const all = roots.filter(({ name }) => !limits.has(name)).reduce((sum, { count }) => sum + count, 0);
  return all > limitOfAll ? [...problems, `the roots export ${all} names together, more than ${limitOfAll}`] : problems;
}

function countNames(
  { folder, manifest }: Member,
  files: ReadonlyMap<string, string>,
): readonly { readonly name: string; readonly count: number }[] {
  const root = manifest.exports?.['.'];
  const source = typeof root === 'object' ? root['holdfast-source'] : undefined;
  if (manifest.private === true || source === undefined) return [];
  const path = `${folder}/${source.replace('./', '')}`;
  const { module } = parseSync(path, files.get(path) ?? '');
  return [{ name: manifest.name, count: module.staticExports.flatMap(({ entries }) => entries).length }];
}
