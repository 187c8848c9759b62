import type { Repository } from './repository.ts';

const maxLines = 300;

// Words are put together here, so that this file does not find itself.
const suppressions = new RegExp(`@ts-(?:ignore|nocheck)|(?:oxlint|eslint)-${'disable'}|v8 ${'ignore'}`);
const postponed = /^[\s*]*(?:TODO|FIXME|XXX|HACK)\b/m;
const leftOut = /\b(?:test|it|describe|bench)(?:\.\w+)*\.(?:skip|only|todo|fails)\b/;
const leftOutSometimes = /\b(?:test|it|describe)\.(?:skipIf|runIf)\b/;

/** Sources that are too long, silence a tool, put work off or leave a test out. */
export function findSourceProblems({ sources }: Repository): string[] {
  return sources.flatMap(({ path, text, comments }) => {
    const lines = text.split('\n').length - 1;
    const facts: [boolean, string][] = [
      [lines > maxLines, `has ${lines} lines, over ${maxLines}: two ideas?`],
      [comments.some((comment) => suppressions.test(comment)), 'silences a checker; fix the cause'],
      [comments.some((comment) => postponed.test(comment)), 'has a note for later; do it or open an issue'],
      [leftOut.test(text), 'leaves a test out'],
      [leftOutSometimes.test(text) && !text.includes('shared/data'), 'may skip only tests over shared data'],
    ];
    return facts.filter(([holds]) => holds).map(([, problem]) => `${path}: ${problem}`);
  });
}

// Folders of whoever wrote the line: they mean nothing on another machine.
const machinePaths = /(?<![\w.])\/(?:work|root)\/\w|(?<![\w.])\/(?:home|Users)\/[a-z]\w*\//;

/** Paths of somebody's own machine in any text, documents and tests included. */
export function findMachinePaths({ files }: Repository): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const match = machinePaths.exec(line);
      return match === null ? [] : [`${path}:${index + 1}: names the machine path \`${match[0]}\``];
    }),
  );
}
