/** A shell pattern for one name: `*`, `?`, `[a-z]`, and `\` before a literal character. */
export type Wildcard = readonly Token[];

type Token =
  | { readonly type: 'any' }
  | { readonly type: 'one' }
  | { readonly type: 'character'; readonly character: string }
  | { readonly type: 'set'; readonly has: (character: string) => boolean };

/** `undefined` for brackets with more than single characters and ranges of digits. */
export function readWildcard(pattern: string): Wildcard | undefined {
  const characters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.type !== 'any') tokens.push({ type: 'any' });
    } else if (character === '?') tokens.push({ type: 'one' });
    else if (character === '\\') {
      index += 1;
      tokens.push({ type: 'character', character: characters[index] ?? '\\' });
    } else if (character === '[') {
      const end = characters.indexOf(']', index + (/[!^]/.test(characters[index + 1] ?? '') ? 3 : 2));
      const inner = end === -1 ? [] : characters.slice(index + 1, end);
      // Shells and languages differ in classes, ranges of letters and `^`.
      if (end !== -1 && !/^!?(?:\d-\d|[\w.])+$/.test(inner.join(''))) return undefined;
      if (end === -1) tokens.push({ type: 'character', character });
      else {
        tokens.push({ type: 'set', has: readSet(inner) });
        index = end;
      }
    } else tokens.push({ type: 'character', character });
  }
  return tokens;
}

function readSet(inner: readonly string[]): (character: string) => boolean {
  const negated = inner[0] === '!';
  const items = inner.slice(negated ? 1 : 0);
  return (character) => {
    const found = items.some(
      (item, index) => item === character || (item === '-' && isBetween(character, items[index - 1], items[index + 1])),
    );
    return found !== negated;
  };
}

function isBetween(character: string, from = '', to = ''): boolean {
  return /^\d$/.test(character) && character >= from && character <= to;
}

/** Takes time proportional at most to the product of both lengths. */
export function matchesWildcard(tokens: Wildcard, name: string): boolean {
  const characters = Array.from(name);
  let token = 0;
  let at = 0;
  let star = -1;
  let retry = 0;
  while (at < characters.length) {
    const current = tokens[token];
    if (current?.type === 'any') {
      star = token;
      token += 1;
      retry = at;
    } else if (current !== undefined && fits(current, characters[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      token = star + 1;
      retry += 1;
      at = retry;
    } else return false;
  }
  return tokens.slice(token).every(({ type }) => type === 'any');
}

function fits(token: Token, character: string): boolean {
  if (token.type === 'set') return token.has(character);
  return token.type === 'one' || (token.type === 'character' && token.character === character);
}

/** True if a pattern can match a name other than itself. */
export function isWildcard(pattern: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*[*?[]/.test(pattern);
}
