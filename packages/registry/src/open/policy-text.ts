import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import { showPath } from '../config/copy.ts';

/** A place in a text, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The data of a text, and the places of its parts by path: `deny[0].reads`. */
export type PolicyText =
  | { readonly ok: true; readonly value: Json; readonly places: ReadonlyMap<string, TextPlace> }
  /** `problem` completes the sentence "Cannot use the file: …". */
  | { readonly ok: false; readonly problem: string };

/** Parses strict JSON or, by the file's name, YAML. */
export async function parsePolicyText(text: string, { yaml }: { readonly yaml: boolean }): Promise<PolicyText> {
  if (text.trim() === '') return refuse('it is empty; write `{}` for no settings');
  if (text.startsWith('\u{feff}')) return refuse('it starts with a byte order mark; save it as UTF-8 without one');
  // Loaded only for such a file: a hook starts for each call of an agent.
  if (yaml) return (await import('./policy-yaml.ts')).parseYaml(text);
  const parsed = parseJson(text);
  if (!parsed.ok && parsed.reason !== 'duplicate') return refuse(parsed.problem);
  const { places, duplicate } = findPlaces(text);
  if (duplicate !== undefined) return refuse(describeDuplicate(duplicate.key, duplicate.place));
  return parsed.ok ? { ok: true, value: parsed.value, places } : refuse(parsed.problem);
}

export function describeDuplicate(key: string, place: TextPlace): string {
  return `it has the duplicate key \`${key.slice(0, 100)}\` (${describePlace(place)})`;
}

export function describePlace({ line, column }: TextPlace): string {
  return `line ${line}, column ${column}`;
}

function refuse(problem: string): PolicyText {
  return { ok: false, problem };
}

interface Places {
  readonly places: ReadonlyMap<string, TextPlace>;
  readonly duplicate?: { readonly key: string; readonly place: TextPlace };
}

type Level =
  | { readonly kind: 'object'; readonly keys: Set<string>; key: string }
  | { readonly kind: 'list'; at: number };

/** The places of keys and of list items in valid JSON text, up to the first duplicate key. */
function findPlaces(text: string): Places {
  const places = new Map<string, TextPlace>();
  const open: Level[] = [];
  const path = (): string => showPath(open.map((level) => (level.kind === 'object' ? level.key : level.at)));
  let line = 1;
  let lineStart = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]\n]|[^\s{}[\],:"]+/gsu)) {
    const place = { line, column: index - lineStart + 1 };
    const around = open.at(-1);
    if (token === '\n') {
      line += 1;
      lineStart = index + 1;
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token.endsWith(':') && around?.kind === 'object') {
      const key: unknown = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      if (typeof key !== 'string') continue;
      if (around.keys.has(key)) return { places, duplicate: { key, place } };
      around.keys.add(key);
      around.key = key;
      places.set(path(), place);
      // The colon may be on a later line.
      const breaks = token.slice(token.lastIndexOf('"')).split('\n');
      if (breaks.length > 1) {
        line += breaks.length - 1;
        lineStart = index + token.length - (breaks.at(-1)?.length ?? 0);
      }
    } else {
      if (around?.kind === 'list') {
        around.at += 1;
        places.set(path(), place);
      }
      if (token === '{') open.push({ kind: 'object', keys: new Set(), key: '' });
      if (token === '[') open.push({ kind: 'list', at: -1 });
    }
  }
  return { places };
}
