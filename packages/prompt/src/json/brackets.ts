/** The number of characters that may still be read, shared by all readers of a text. */
export interface StepBudget {
  left: number;
}

const bracketOrQuote = /["'{}[\]]/g;
const beforeText = /[{[,:]\s*$/;

/**
 * The index after the bracket that closes the last of `open` ones, with those in texts left out as far as can be told; `undefined` where
 * there is none.
 */
export function findEnd(
  text: string,
  start: number,
  { open = 0, budget }: { readonly open?: number; readonly budget?: StepBudget } = {},
): number | undefined {
  const spend = (count: number): void => {
    if (budget !== undefined) budget.left -= count;
  };
  let left = open;
  bracketOrQuote.lastIndex = start;
  for (let found = bracketOrQuote.exec(text); found !== null; found = bracketOrQuote.exec(text)) {
    const { 0: sign, index } = found;
    if (sign === '{' || sign === '[') left += 1;
    else if (sign === '}' || sign === ']') {
      left -= 1;
      if (left === 0) {
        spend(index - start);
        return index + 1;
      }
    } else if (sign === '"' || beforeText.test(text.slice(Math.max(0, index - 40), index))) {
      const end = findTextEnd(text, index);
      if (end === undefined) break;
      bracketOrQuote.lastIndex = end;
    }
  }
  spend(text.length - start);
  return undefined;
}

/** The index after the quote that ends the text at `start`; `undefined` where there is none. */
export function findTextEnd(text: string, start: number): number | undefined {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += text[at] === '\\' ? 2 : 1) if (text[at] === quote) return at + 1;
  return undefined;
}
