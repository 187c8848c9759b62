/** Characters that may still be looked at: shared by all that reads one text. */
export interface StepBudget {
  left: number;
}

const bracketOrQuote = /["'{}[\]]/g;
const beforeText = /[{[,:]\s*$/;

/** Behind the bracket that closes the last of `open` ones, as far as can be told; `undefined`: there is none. */
export function findEnd(
  text: string,
  start: number,
  { open, budget }: { readonly open: number; readonly budget: StepBudget },
): number | undefined {
  let left = open;
  bracketOrQuote.lastIndex = start;
  for (let found = bracketOrQuote.exec(text); found !== null; found = bracketOrQuote.exec(text)) {
    const { 0: sign, index } = found;
    if (sign === '{' || sign === '[') left += 1;
    else if (sign === '}' || sign === ']') {
      left -= 1;
      if (left === 0) {
        budget.left -= index - start;
        return index + 1;
      }
    } else if (sign === '"' || beforeText.test(text.slice(Math.max(0, index - 40), index))) {
      const end = findTextEnd(text, index);
      if (end === undefined) break;
      bracketOrQuote.lastIndex = end;
    }
  }
  budget.left -= text.length - start;
  return undefined;
}

/** Behind the quote that ends the text that begins at `start`; `undefined`: there is none. */
export function findTextEnd(text: string, start: number): number | undefined {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += text[at] === '\\' ? 2 : 1) if (text[at] === quote) return at + 1;
  return undefined;
}
