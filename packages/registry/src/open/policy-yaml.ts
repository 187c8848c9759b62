import type { Json } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { CST, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, parseDocument } from 'yaml';
import { showPath } from '../config/copy.ts';
import { describeDuplicate, describePlace, type PolicyText, type TextPlace } from './policy-text.ts';

const maxDepth = 64;

/** Parses the part of YAML that is JSON in another notation: one document of maps with text keys, without anchors, tags and merges. */
export function parseYaml(text: string): PolicyText {
  const lineCounter = new LineCounter();
  try {
    checkTokens(text, lineCounter);
    const document = parseDocument(text, {
      version: '1.2',
      merge: false,
      resolveKnownTags: false,
      // Checked below: the parser compares each key with all others.
      uniqueKeys: false,
      stringKeys: true,
      prettyErrors: false,
      // `silent` would also let further documents pass.
      logLevel: 'error',
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem?.code === 'MULTIPLE_DOCS') throw new Refusal('it has more than one document', problem.pos[0]);
    if (problem !== undefined) throw new Refusal(tidy(problem.message), problem.pos[0]);
    const places = new Map<string, TextPlace>();
    const value = toJson(document.contents, [], { places, lineCounter });
    return { ok: true, value, places };
  } catch (thrown) {
    const { message, offset, key } = thrown instanceof Refusal ? thrown : new Refusal(tidy(describeThrown(thrown)), 0);
    const place = toPlace(lineCounter, offset);
    const problem = key === undefined ? `${message} (${describePlace(place)})` : describeDuplicate(key, place);
    return { ok: false, problem };
  }
}

/** A text that is not accepted, with the offset of the reason. */
class Refusal extends Error {
  readonly offset: number;
  /** A key that is there twice. */
  readonly key: string | undefined;

  constructor(message: string, offset: number, key?: string) {
    super(message);
    this.offset = offset;
    this.key = key;
  }
}

const features: ReadonlyMap<CST.TokenType, string> = new Map([
  ['anchor', 'anchors'],
  ['alias', 'aliases'],
  ['tag', 'tags'],
  ['directive-line', 'directives'],
]);

/** Before parsing, which takes long for deeply nested text. */
function checkTokens(text: string, { addNewLine }: LineCounter): void {
  addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) addNewLine(at + 1);
  const control = /(?![\t\n\r])\p{Cc}/u.exec(text);
  if (control !== null) throw new Refusal('it has a control character', control.index);
  let offset = 0;
  let depth = 0;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    // The lexer marks scalars and documents with control characters of its own.
    const isMark = token === CST.SCALAR || token === CST.DOCUMENT || token === CST.FLOW_END;
    if (!isText && !isMark) {
      const type = CST.tokenType(token);
      const feature = type === null ? undefined : features.get(type);
      if (feature !== undefined) throw new Refusal(`it has ${feature}, which are not accepted`, offset);
      if (type === 'flow-seq-start' || type === 'flow-map-start') depth += 1;
      if (type === 'flow-seq-end' || type === 'flow-map-end') depth -= 1;
      if (depth > maxDepth) throw tooDeep(offset);
    }
    isText = token === CST.SCALAR;
    if (!isMark) offset += token.length;
  }
}

function tooDeep(offset: number): Refusal {
  return new Refusal(`it is nested deeper than ${maxDepth} levels`, offset);
}

interface Walk {
  readonly places: Map<string, TextPlace>;
  readonly lineCounter: LineCounter;
}

function toJson(node: unknown, path: readonly (string | number)[], walk: Walk): Json {
  // A key or item without a value.
  if (node === null || node === undefined) return null;
  const offset = offsetOf(node as Node);
  if (path.length > maxDepth) throw tooDeep(offset);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const at = [...path, index];
      walk.places.set(showPath(at), toPlace(walk.lineCounter, item === null ? offset : offsetOf(item as Node)));
      return toJson(item, at, walk);
    });
  }
  if (isMap(node)) {
    const entries = new Map<string, Json>();
    for (const { key, value } of node.items) {
      const keyOffset = key === null ? offset : offsetOf(key as Node);
      if (!isScalar(key) || typeof key.value !== 'string')
        throw new Refusal('it has a key that is not text', keyOffset);
      const name = key.value;
      if (name === '<<') throw new Refusal('it has the merge key `<<`, which is not accepted', keyOffset);
      if (name === '__proto__') throw new Refusal('`__proto__` is not accepted as a key', keyOffset);
      if (entries.has(name)) throw new Refusal('', keyOffset, name);
      const at = [...path, name];
      walk.places.set(showPath(at), toPlace(walk.lineCounter, keyOffset));
      entries.set(name, toJson(value, at, walk));
    }
    return Object.fromEntries(entries);
  }
  const value = isScalar(node) ? node.value : undefined;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value !== 'number') throw new Refusal('it has a value that is not JSON', offset);
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
  throw new Refusal('it has a number that is too large', offset);
}

function offsetOf({ range }: Node): number {
  return range?.[0] ?? 0;
}

function toPlace(lineCounter: LineCounter, offset: number): TextPlace {
  const { line, col } = lineCounter.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** A clause, in one line. */
function tidy(message: string): string {
  const [first = ''] = message.split('\n');
  return `it is not YAML: ${first.replace(/[.:]$/, '').slice(0, 200)}`;
}
