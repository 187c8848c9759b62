import { findSimilarLine } from './similar-line.ts';
import { shorten } from './text.ts';

/** Limits for long files and texts, because the result is only a hint. */
const maxLines = 20_000;
const maxWantedLines = 2000;
const maxShown = 1500;

/** Explains in a sentence why `wanted` does not occur in `text`, and quotes the closest match, if there is one. */
export function explainMismatch(text: string, wanted: string): string | undefined {
  const listed = wanted.replaceAll(/^ *\d+\t/gmu, '');
  if (listed !== wanted && listed.trim() !== '' && text.includes(listed)) {
    return 'It begins with line numbers, which are not in the file. Leave them out.';
  }
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(wanted.replaceAll('\r\n', '\n'))) {
    return 'Some lines of the file end with \\r\\n and some with \\n. Give each line as it is in the file.';
  }
  const lines = text.split('\n', maxLines);
  const wantedLines = wanted.split('\n');
  const run = wantedLines.length > maxWantedLines ? undefined : findLongestRun(lines, wantedLines);
  if (run !== undefined && run.length === wantedLines.length) {
    const found = shorten(JSON.stringify(lines.slice(run.start, run.start + run.length).join('\n')), maxShown);
    return `It differs only in white space from ${nameLines(run.start, run.length)}, which is, as JSON: ${found}.`;
  }
  if (run !== undefined) {
    const next = lines[run.start + run.length];
    const there =
      next === undefined ? 'the file ends' : `line ${run.start + run.length + 1} is \`${shorten(next, 200)}\``;
    const asked = `\`${shorten(wantedLines[run.length] ?? '', 200)}\``;
    return `Its first ${run.length === 1 ? 'line is' : `${run.length} lines are`} ${nameLines(run.start, run.length)}, but then ${there}, not ${asked}.`;
  }
  const similar = findSimilarLine(text, wanted);
  return similar === undefined
    ? undefined
    : `The most similar line is ${similar.line}: \`${shorten(similar.text, 200)}\`.`;
}

/** Lines count from 0. Compared after trimming and collapsing white space. */
function findLongestRun(
  lines: readonly string[],
  wanted: readonly string[],
): { readonly start: number; readonly length: number } | undefined {
  const wantedLines = wanted.map(normalise);
  const last = wantedLines.length - 1;
  const fits = (line: string, index: number): boolean => {
    const part = wantedLines[index] ?? '';
    // The wanted text may begin and end within a line.
    if (index === 0) return last === 0 ? line.includes(part) : line.endsWith(part);
    return index === last ? line.startsWith(part) : line === part;
  };
  const found = lines.map(normalise);
  let best: { readonly start: number; readonly length: number } | undefined;
  for (const start of found.keys()) {
    let length = 0;
    while (length <= last && start + length < found.length && fits(found[start + length] ?? '', length)) length += 1;
    // Empty lines alone are not evidence.
    const says = wantedLines.slice(0, length).some((line) => line !== '');
    if (says && length > (best?.length ?? 0)) best = { start, length };
    if (length > last) break;
  }
  return best;
}

function normalise(line: string): string {
  return line.trim().replaceAll(/\s+/gu, ' ');
}

function nameLines(start: number, length: number): string {
  return length === 1 ? `line ${start + 1}` : `lines ${start + 1} to ${start + length}`;
}
