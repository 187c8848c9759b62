const name = 'think|thinking|thought|reasoning|reflection|scratchpad';
// A tag that opens at the beginning of a line or behind another; one that closes at either end of a line; what an answer begins with.
const mark = new RegExp(
  `(?:^|(?<=>))[ \\t]{0,20}<(${name})>|<\\/(?:${name})>(?=[ \\t]{0,20}\\r?$)|^[ \\t]{0,20}<\\/(?:${name})>|^[ \\t*_\`#]{0,20}(\\{|\\[\\[)`,
  'gim',
);

/**
 * The text without the thoughts before its answer: blocks of `<think>` and the like, and, where the opening tag is missing, as it is
 * for models whose template writes it, all before a closing one. Nothing is left when a thought has no end. Tags within the answer stay.
 */
export function skipReasoning(text: string): string {
  let start = 0;
  let hasBegun = false;
  mark.lastIndex = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [, opened, answer] = found;
    if (answer !== undefined) {
      hasBegun = true;
      continue;
    }
    if (opened === undefined) {
      start = mark.lastIndex;
      hasBegun = false;
      continue;
    }
    if (hasBegun) break;
    const closing = new RegExp(`<\\/${opened}>`, 'gi');
    closing.lastIndex = mark.lastIndex;
    if (!closing.test(text)) return '';
    start = closing.lastIndex;
    mark.lastIndex = start;
  }
  return text.slice(start);
}
