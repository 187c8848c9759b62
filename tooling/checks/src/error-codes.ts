import { parseSync } from 'oxc-parser';
import { type ErrorRow, errorPage, findLostTables, readErrorRows, writeErrorPage } from './error-page.ts';
import { isTest, type Repository } from './repository.ts';

/** Codes and reasons missing in `errors.json`, those in it that no source throws, reasons without a test, and a page that differs. */
export function findErrorCodeProblems(repository: Repository): string[] {
  const { sources } = repository;
  const makers = sources.filter(isMaker);
  // A reason with a dot looks like a code where it is passed to a function.
  const reasons = new Set(makers.flatMap(({ path, text }) => readReasons(path, text).map(({ reason }) => reason)));
  const made = makers.flatMap(({ path, text }) =>
    readCodes(path, text).map((code) => ({ path, code, pattern: toPattern(code) })),
  );
  const rows = readErrorRows(repository);
  const listed = rows.map(({ code }) => code);
  const missing = made.filter(({ code, pattern }) => !reasons.has(code) && !listed.some((name) => pattern.test(name)));
  const stale = rows.filter(({ code }) => !made.some(({ pattern }) => pattern.test(code)));
  return [
    ...new Set(
      missing.map(({ path, code }) => `${path}: no \`errors.json\` explains the code \`${code}\`; add a line`),
    ),
    ...stale.map(({ path, code }) => `${path}: no source throws \`${code}\``),
    ...findReasonProblems(repository, rows),
    ...findLostTables(repository),
    ...(writeErrorPage(repository) === (repository.files.get(errorPage) ?? '')
      ? []
      : [`${errorPage}: differs from the \`errors.json\` of the packages; run \`npm run errors\``]),
  ];
}

function isMaker({ path }: { readonly path: string }): boolean {
  return /^(?:packages\/[^/]+|apps\/cli)\/src\//.test(path) && !isTest(path);
}

function findReasonProblems({ sources }: Repository, rows: readonly ErrorRow[]): readonly string[] {
  const made = sources
    .filter(isMaker)
    .flatMap(({ path, text }) => readReasons(path, text).map((one) => ({ path, ...one })));
  const tests = sources.filter(({ path }) => isTest(path)).map(({ text }) => text);
  const missing = made.filter(
    ({ code, reason }) => !rows.some((row) => row.code === code && row.reasons.includes(reason)),
  );
  const listed = rows.flatMap(({ path, code, reasons }) => reasons.map((reason) => ({ path, code, reason })));
  const stale = listed.filter((row) => !made.some(({ code, reason }) => row.code === code && row.reason === reason));
  const untested = made.filter(({ code, reason }) => !tests.some((text) => mentionsReason(text, code, reason)));
  return [
    ...missing.map(
      ({ path, code, reason }) => `${path}: no \`errors.json\` explains the reason \`${reason}\` of \`${code}\``,
    ),
    ...stale.map(({ path, code, reason }) => `${path}: nothing gives \`${code}\` the reason \`${reason}\``),
    ...untested.map(({ path, code, reason }) => `${path}: the reason \`${reason}\` of \`${code}\` has no test`),
  ];
}

/** A type that lists the reasons of one code; its comment names the code. */
const reasonsType = /\/\*\* Reasons of `([^`]+)`[^*]*\*\/\s*(?:export )?type \w+ =([^;]+);/g;

const reasonBesideCode = /\bcode: '([a-z_.]+)',\s*reason: '([a-z_.]+)'/g;

interface Reason {
  readonly code: string;
  readonly reason: string;
}

function readReasons(path: string, text: string): readonly Reason[] {
  const typed = [...text.matchAll(reasonsType)].flatMap(([, code = '', union = '']) =>
    [...union.matchAll(/'([^']+)'/g)].map(([, reason = '']) => ({ code, reason })),
  );
  const beside = [...text.matchAll(reasonBesideCode)].map(([, code = '', reason = '']) => ({ code, reason }));
  return [...typed, ...beside, ...readThrownReasons(path, text)];
}

/** `new HoldfastError('a.b', message, { data: { reason: 'c' } })`; those of `options.invalid` only name an option. */
function readThrownReasons(path: string, text: string): readonly Reason[] {
  const found: Reason[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item);
      return;
    }
    if (!isNode(node)) return;
    if (node['type'] === 'NewExpression' && Array.isArray(node['arguments'])) {
      const [code, , options] = node['arguments'] as readonly unknown[];
      const reason = propertyOf(propertyOf(options, 'data'), 'reason');
      if (isText(code) && isText(reason) && code.value !== 'options.invalid')
        found.push({ code: code.value, reason: reason.value });
    }
    for (const child of Object.values(node)) visit(child);
  };
  if (/\bdata: \{\s*reason: '/.test(text)) visit(parseSync(path, text).program);
  return found;
}

/** The value of a property of an object as written. */
function propertyOf(node: unknown, name: string): unknown {
  const properties =
    isNode(node) && Array.isArray(node['properties']) ? (node['properties'] as readonly unknown[]) : [];
  const property = properties.find((one) => isNode(one) && isNode(one['key']) && one['key']['name'] === name);
  return isNode(property) ? property['value'] : undefined;
}

function isText(node: unknown): node is { readonly value: string } {
  return isNode(node) && node['type'] === 'Literal' && typeof node['value'] === 'string';
}

/** In a test: `{ code, reason: 'r' }` or the text `code: r`. */
function mentionsReason(text: string, code: string, reason: string): boolean {
  return (
    text.replaceAll('\\', '').includes(`${code}: ${reason}`) ||
    (text.includes(code) && text.includes(`reason: '${reason}'`))
  );
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
