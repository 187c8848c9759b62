import type { Json } from '@holdfast/core';
import type {
  ArrayExpression,
  Expression,
  ObjectExpression,
  ObjectProperty,
  ObjectPropertyKind,
  TemplateLiteral,
  UnaryExpression,
} from 'oxc-parser';
import type { Binding } from './outline.ts';

/** A path within a literal: keys and indexes, outermost first. */
export type LiteralPath = readonly string[];

export type LiteralReading =
  | {
      readonly type: 'read';
      readonly value: Json;
      /** Offset in the source of the member at `path`, or of its nearest existing parent. */
      readonly offsetOf: (path: LiteralPath) => number;
    }
  | { readonly type: 'refused'; readonly offset: number; readonly found: string; readonly hint: string };

type Refusal = Extract<LiteralReading, { type: 'refused' }>;
interface Place {
  readonly path: LiteralPath;
  /** Only constants above this offset are defined. */
  readonly before: number;
  readonly depth: number;
}

type Read = { readonly type: 'value'; readonly value: Json } | Refusal;

const maxDepth = 64;
// References to constants can multiply: ten lines may expand to billions of values.
const maxValues = 20_000;

/**
 * Evaluates an expression as JSON without running it: nested literals, `as`, `satisfies`, templates without
 * expressions, signed numbers, and names of `const` literals defined above. Refuses everything else, with its position.
 */
export function readLiteral(expression: Expression, bindings: ReadonlyMap<string, Binding>): LiteralReading {
  const offsets = new Map<string, number>();
  let values = 0;

  function read(outer: Expression, place: Place): Read {
    const node = unwrapExpression(outer);
    values += 1;
    if (values > maxValues || place.depth > maxDepth) {
      const message = 'a literal that is too large';
      return refuse(node.start, message, `Keep it under ${maxValues} values and ${maxDepth} levels.`);
    }
    switch (node.type) {
      case 'Literal':
        return readScalar(node);
      case 'TemplateLiteral':
        return readTemplate(node);
      case 'UnaryExpression':
        return readSigned(node);
      case 'ArrayExpression':
        return readArray(node, place);
      case 'ObjectExpression':
        return readObject(node, place);
      case 'Identifier':
        return readName(node.name, node.start, place);
      default:
        return refuse(node.start, descriptions.get(node.type) ?? 'an expression', writeOut);
    }
  }

  function readMember(node: Expression, name: string, offset: number, { path, before, depth }: Place): Read {
    const inner = [...path, name];
    offsets.set(JSON.stringify(inner), offset);
    return read(node, { path: inner, before, depth: depth + 1 });
  }

  function readArray(node: ArrayExpression, place: Place): Read {
    const items: Json[] = [];
    for (const [index, element] of node.elements.entries()) {
      if (element === null) return refuse(node.start, 'an array with a hole', 'Write `null`, or remove the comma.');
      if (element.type === 'SpreadElement') return refuse(element.start, 'a spread', writeOut);
      const item = readMember(element, String(index), element.start, place);
      if (item.type === 'refused') return item;
      items.push(item.value);
    }
    return value(items);
  }

  function readObject(node: ObjectExpression, place: Place): Read {
    const members = new Map<string, Json>();
    for (const property of node.properties) {
      const name = readKey(property);
      if (typeof name !== 'string') return name;
      if (members.has(name)) return refuse(property.start, `the duplicate key \`${name}\``, 'Keep one of the two.');
      // `readKey` rejects spreads.
      const member = readMember((property as ObjectProperty).value, name, property.start, place);
      if (member.type === 'refused') return member;
      members.set(name, member.value);
    }
    return value(Object.fromEntries(members));
  }

  function readName(name: string, offset: number, { path, before, depth }: Place): Read {
    if (name === 'undefined') return refuse(offset, '`undefined`', 'Remove the key.');
    const binding = bindings.get(name);
    if (binding?.type !== 'const') {
      return refuse(offset, `the name \`${name}\``, 'Only a `const` literal of the same file can be referenced.');
    }
    // A constant is undefined above its own line. Only looking upwards also prevents cycles.
    if (binding.offset >= before)
      return refuse(offset, `\`${name}\` before its definition`, `Move \`${name}\` above its use.`);
    return read(binding.value, { path, before: binding.offset, depth: depth + 1 });
  }

  const result = read(expression, { path: [], before: expression.start, depth: 0 });
  if (result.type === 'refused') return result;
  return {
    type: 'read',
    value: result.value,
    offsetOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const offset = offsets.get(JSON.stringify(path.slice(0, length)));
        if (offset !== undefined) return offset;
      }
      return expression.start;
    },
  };
}

const writeOut = 'Write the value as a literal: metadata is read without running the file.';

function refuse(offset: number, found: string, hint: string): Refusal {
  return { type: 'refused', offset, found, hint };
}

function value(json: Json): Read {
  return { type: 'value', value: json };
}

/** The expression inside parentheses, `as` and `satisfies`. */
export function unwrapExpression(outer: Expression): Expression {
  let node = outer;
  // A loop instead of recursion: a file may nest any number of them.
  while (
    node.type === 'ParenthesizedExpression' ||
    node.type === 'TSAsExpression' ||
    node.type === 'TSSatisfiesExpression'
  ) {
    node = node.expression;
  }
  return node;
}

function readScalar(node: Extract<Expression, { type: 'Literal' }>): Read {
  if ('bigint' in node) return refuse(node.start, 'a bigint', 'Write a number or a string.');
  if ('regex' in node) return refuse(node.start, 'a regular expression', 'Write the pattern as a string.');
  // A tree transferred as JSON has null instead of such a number.
  const isEndless =
    node.value === null ? node.raw !== 'null' : typeof node.value === 'number' && !Number.isFinite(node.value);
  if (isEndless) {
    return refuse(node.start, 'an infinite number', 'Write a number that JSON can represent.');
  }
  return value(node.value);
}

function readTemplate(node: TemplateLiteral): Read {
  const text = node.quasis[0]?.value.cooked;
  if (node.expressions.length === 0 && typeof text === 'string') return value(text);
  return refuse(
    node.expressions[0]?.start ?? node.start,
    'a template with an expression',
    'Write the whole string as a literal.',
  );
}

function readSigned({ operator, argument, start }: UnaryExpression): Read {
  const isNumber = argument.type === 'Literal' && typeof argument.value === 'number' && Number.isFinite(argument.value);
  if (isNumber && operator === '-') return value(-argument.value);
  if (isNumber && operator === '+') return value(argument.value);
  return refuse(start, `the operator \`${operator}\``, writeOut);
}

function readKey(property: ObjectPropertyKind): string | Refusal {
  const { start } = property;
  if (property.type === 'SpreadElement') return refuse(start, 'a spread', writeOut);
  if (property.kind !== 'init') return refuse(start, 'a getter or setter', 'Write the value itself.');
  if (property.method) return refuse(start, 'a method', 'Metadata is data: name the function in `function`.');
  if (property.computed) return refuse(start, 'a computed key', 'Write the key as a literal.');
  const { key } = property;
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : undefined;
  if (typeof name !== 'string' && typeof name !== 'number') {
    return refuse(start, 'a key that is not a name, string or number', 'Write the key as a string.');
  }
  if (name === '__proto__') return refuse(start, 'the key `__proto__`', 'Choose another name.');
  return String(name);
}

const descriptions: ReadonlyMap<string, string> = new Map([
  ['CallExpression', 'a call'],
  ['NewExpression', 'a `new` expression'],
  ['BinaryExpression', 'a computed value'],
  ['LogicalExpression', 'a computed value'],
  ['ConditionalExpression', 'a computed value'],
  ['MemberExpression', 'a member of another value'],
  ['ArrowFunctionExpression', 'a function'],
  ['FunctionExpression', 'a function'],
  ['TaggedTemplateExpression', 'a tagged template'],
  ['AwaitExpression', 'an `await`'],
]);
