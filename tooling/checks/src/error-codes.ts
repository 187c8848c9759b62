import { parseSync } from 'oxc-parser';
import { isTest, type Repository } from './repository.ts';

/** The page that explains every code to users. */
const page = 'apps/docs/guide/errors.md';

/** Codes missing on the errors page, and codes on it that no source throws. */
export function findErrorCodeProblems({ files, sources }: Repository): string[] {
  const made = sources
    .filter(({ path }) => /^(?:packages\/[^/]+|apps\/cli)\/src\//.test(path) && !isTest(path))
    .flatMap(({ path, text }) => readCodes(path, text).map((code) => ({ path, code, pattern: toPattern(code) })));
  const listed = readListed(files.get(page) ?? '');
  const missing = made.filter(({ pattern }) => !listed.some((name) => pattern.test(name)));
  const stale = listed.filter((name) => !made.some(({ pattern }) => pattern.test(name)));
  return [
    ...new Set(
      missing.map(({ path, code }) => `${path}: the code \`${code}\` is not on ${page}; add a line that explains it`),
    ),
    ...stale.map((name) => `${page}: no source throws \`${name}\``),
  ];
}

/** The codes in the first column of the page's tables. */
function readListed(text: string): readonly string[] {
  const cells = [...text.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

/** Parts of a code may be known only at run time: `call.*`. */
function toPattern(code: string): RegExp {
  return new RegExp(`^${code.replaceAll('.', String.raw`\.`).replaceAll('*', '[a-z_]+')}$`);
}

/** A pattern that a file with an error code contains. */
const mention = /['"`][a-z][a-z_]*\.[a-z$]/;
const codePattern = /^[a-z][a-z_]*(?:\.[a-z][a-z_]*)+$/;
const fileName = /\.(?:ts|mts|js|mjs|json|jsonl|md|txt|lock|yaml)$/;

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/**
 * The codes of a source file: matching strings in the place of a code, which is an argument, a property
 * `code`, or a choice between such strings; not in comparisons.
 */
function readCodes(path: string, text: string): readonly string[] {
  const codes: string[] = [];
  const visit = (node: unknown, place: string): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item, place);
      return;
    }
    if (!isNode(node)) return;
    if (mayHoldCode(place)) {
      const code = readCode(node);
      if (code !== undefined) codes.push(code);
    }
    for (const [key, child] of Object.entries(node)) visit(child, placeOf(node, key, place));
  };
  if (mention.test(text)) visit(parseSync(path, text).program, '');
  return codes;
}

function mayHoldCode(place: string): boolean {
  return place === 'argument' || place === 'code';
}

/** The role of the value at `key` of `node`. */
function placeOf({ type, callee, key: name }: Node, key: string, outer: string): string {
  switch (type) {
    case 'CallExpression':
    case 'NewExpression':
      return key === 'arguments' && !takesNames(callee) ? 'argument' : '';
    case 'Property':
      return key === 'value' && isNode(name) && name['name'] === 'code' ? 'code' : '';
    case 'ConditionalExpression':
      return key === 'test' ? '' : outer || 'argument';
    case 'LogicalExpression':
      return 'argument';
    default:
      return '';
  }
}

/** `Symbol.for` and lookups such as `has`. */
function takesNames(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  const { object, property } = callee;
  return (isNode(object) && object['name'] === 'Symbol') || (isNode(property) && property['name'] === 'has');
}

function readCode({ type, value, quasis }: Node): string | undefined {
  if (type === 'Literal') {
    return typeof value === 'string' && codePattern.test(value) && !fileName.test(value) ? value : undefined;
  }
  if (type !== 'TemplateLiteral' || !Array.isArray(quasis)) return undefined;
  const code = quasis
    .map((quasi: unknown) => (isNode(quasi) && isNode(quasi['value']) ? String(quasi['value']['cooked']) : ''))
    .join('*');
  return code.includes('*') && /^[a-z]/.test(code) && codePattern.test(code.replaceAll('*', 'a')) ? code : undefined;
}
