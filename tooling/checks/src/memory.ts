import { parseSync } from 'oxc-parser';
import type { ParsedFile } from './parsed-file.ts';
import { isTest, type Repository } from './repository.ts';

/** Packages that allocate per call, run or session. */
const rings = ['core', 'schema', 'session', 'policy', 'prompt', 'executor'].map((name) => `packages/${name}/src/`);

/**
 * Code that keeps V8's young-generation collector from freeing a session with its log: a getter in an object literal (the
 * object's shape retains the getter's closure), and a WeakMap keyed by session (its values become old with the map).
 */
export function findKeepers({ members }: Repository): string[] {
  return members
    .flatMap(({ sources }) => sources)
    .filter(({ path }) => rings.some((ring) => path.startsWith(ring)) && !isTest(path))
    .flatMap(findInFile);
}

function findInFile({ path, text }: ParsedFile): string[] {
  const found: string[] = [];
  const note = (at: unknown, what: string): void => {
    found.push(`${path}:${text.slice(0, Number(at)).split('\n').length}: ${what}`);
  };
  visit(parseSync(path, text).program, false, ({ type, kind, start, end }, inFunction) => {
    if (inFunction && type === 'Property' && kind === 'get')
      note(start, 'a getter in an object that is created repeatedly; use a class');
    if (type === 'NewExpression' && /^new WeakMap<\s*Session\b/.test(text.slice(Number(start), Number(end))))
      note(start, 'a WeakMap keyed by session; keep it on the session with `keptBeside`');
  });
  return found;
}

type Node = Readonly<Record<string, unknown>>;

function visit(value: unknown, inFunction: boolean, see: (node: Node, inFunction: boolean) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, inFunction, see);
  else if (typeof value === 'object' && value !== null) {
    const node = value as Node;
    see(node, inFunction);
    const inside = inFunction || String(node['type']).includes('Function');
    for (const inner of Object.values(node)) visit(inner, inside, see);
  }
}
