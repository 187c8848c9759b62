/** The first key that an object has twice, in text that is JSON. */
export function findDuplicateKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?|[{}[\]]/gsu;
  for (const { 0: token, groups } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (groups?.['colon'] !== undefined) {
      const key: unknown = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const keys = open.at(-1);
      if (typeof key !== 'string') continue;
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
