import { parseSync } from 'oxc-parser';
import type { ParsedFile } from './parsed-file.ts';
import { isTest, type Repository } from './repository.ts';

/** Packages that make something for each call, run or session. */
const rings = ['core', 'schema', 'session', 'policy', 'prompt', 'executor'].map((name) => `packages/${name}/src/`);

/**
 * What keeps a session, with its whole log, from going with the next young collection of V8: a getter in an object literal, which the
 * shape of the object keeps, and with it all that the getter sees; and a WeakMap by session, whose values are old when their map is.
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
      note(start, 'a getter in an object that is made again and again; make it a class');
    if (type === 'NewExpression' && /^new WeakMap<\s*Session\b/.test(text.slice(Number(start), Number(end))))
      note(start, 'a WeakMap by session; keep it on the session with `keptBeside`');
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
