import { isTest, type Repository } from './repository.ts';

// Tests may be longer: they list cases.
const maxLines = 300;
const maxTestLines = 800;

// Words are concatenated here, so that this file does not find itself.
const suppressions = new RegExp(`@ts-(?:ignore|nocheck)|(?:oxlint|eslint)-${'disable'}|v8 ${'ignore'}`);
const postponed = /^[\s*]*(?:TODO|FIXME|XXX|HACK)\b/m;
const leftOut = /\b(?:test|it|describe|bench)(?:\.\w+)*\.(?:skip|only|todo|fails)\b/;
const leftOutSometimes =
  /\b(?:test|it|describe)\.(?:skipIf|runIf)\((?!process\.platform |!(?:has|with|on|can)[A-Z]|!python\.available)/;

/** Sources that are too long, silence a tool, postpone work or skip a test. */
export function findSourceProblems({ sources }: Repository): string[] {
  return sources.flatMap(({ path, text, comments }) => {
    const lines = text.split('\n').length - 1;
    const most = isTest(path) ? maxTestLines : maxLines;
    const facts: [boolean, string][] = [
      [lines > most, `has ${lines} lines, over ${most}: two ideas?`],
      [comments.some((comment) => suppressions.test(comment)), 'silences a checker; fix the cause'],
      [comments.some((comment) => postponed.test(comment)), 'has a postponed task; do it or open an issue'],
      [leftOut.test(text), 'skips a test'],
      [
        leftOutSometimes.test(text) && !text.includes('/shared/'),
        'may skip only tests over shared data, of another platform or of missing programs',
      ],
    ];
    return facts.filter(([holds]) => holds).map(([, problem]) => `${path}: ${problem}`);
  });
}

// Folders of the author's machine: they do not exist on another one.
const machinePaths = /(?<![\w.])\/(?:work|root)\/\w/;
// Tests use these as examples of paths that must not leak.
const homeFolders = /(?<![\w.])\/(?:home|Users)\/[a-z]\w*\//;

/** Paths of the author's machine in any text, including documents. */
export function findMachinePaths({ files }: Repository): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const match = machinePaths.exec(line) ?? (isTest(path) ? null : homeFolders.exec(line));
      return match === null ? [] : [`${path}:${index + 1}: names the machine path \`${match[0]}\``];
    }),
  );
}
