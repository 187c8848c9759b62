const maxWords = 64;
const list = String.raw`\{[\w./*?:@%+=-]*(?:,[\w./*?:@%+=-]*)+\}`;
const range = String.raw`\{\d{1,4}\.\.\d{1,4}\}`;
const plain = new RegExp(`^(?:[\\w./*?:@%+=,-]|${list}|${range})*$`);
const quoted = /\\.|'[^']*'|"(?:[^"\\$`]|\\.|\$\w|\$\{\w+\})*"|\$\{\w+\}/gs;
const effective = /\{.*(?:,|\.\.).*\}/s;

/** True if `bash` may expand one word into several. `sh` never does. */
export function mayExpandBraces(text: string): boolean {
  if (!effective.test(text)) return false;
  const bare = text.replace(quoted, '');
  // Of what is left open it is not known where it ends.
  return effective.test(bare) || /["'`]|\$[({]/.test(bare);
}

/** The words that `bash` makes; `undefined` where the text is not plain, or makes too many. */
export function expandBraces(text: string): readonly string[] | undefined {
  if (!plain.test(text)) return undefined;
  const [group] = new RegExp(`${list}|${range}`).exec(text) ?? [];
  if (group === undefined) return [text];
  const at = text.indexOf(group);
  const rest = expandBraces(text.slice(at + group.length));
  const inner = group.slice(1, -1);
  const choices = inner.includes(',') ? inner.split(',') : countFrom(inner);
  if (rest === undefined || rest.length * choices.length > maxWords) return undefined;
  return choices.flatMap((choice) => rest.map((end) => text.slice(0, at) + choice + end));
}

function countFrom(inner: string): readonly string[] {
  const [from = 0, to = 0] = inner.split('..').map(Number);
  // With a zero in front all numbers have as many digits.
  const width = /(?:^|\.)0\d/.test(inner) ? Math.max(...inner.split('..').map(({ length }) => length)) : 0;
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) =>
    String(from + step * index).padStart(width, '0'),
  );
}
