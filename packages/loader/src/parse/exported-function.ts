import type { Comment, Expression, ObjectPattern } from 'oxc-parser';
import { unwrapExpression } from './literal.ts';
import type { Binding, FunctionLike, ModuleOutline } from './outline.ts';

/** The first parameter of a JavaScript or TypeScript function. */
export interface TakenParameter {
  /** `undefined` if it has none. */
  readonly name: string | undefined;
  /** The destructured keys; `undefined` if the parameter has a name, or not all keys are known. */
  readonly keys: readonly { readonly name: string; readonly hasDefault: boolean }[] | undefined;
}

export type ExportedFunction =
  | {
      readonly type: 'function';
      readonly offset: number;
      /** True if it declares a parameter. */
      readonly takesInput: boolean;
      /** The doc comment above it, without stars and tags. */
      readonly documentation: string | undefined;
      /** Only for JavaScript and TypeScript. */
      readonly taken?: TakenParameter;
    }
  | { readonly type: 'not-exported'; readonly exported: readonly string[] }
  | { readonly type: 'not-function'; readonly offset: number; readonly found: string };

/** The result for an existing export. */
export type FoundFunction = Exclude<ExportedFunction, { type: 'not-exported' }>;

/** Finds the export `name` of a module and checks, without running it, that it is a function. */
export function findExportedFunction(
  name: string,
  { bindings, exports }: ModuleOutline,
  { source, comments }: { readonly source: string; readonly comments: readonly Comment[] },
): ExportedFunction {
  const exported = exports.get(name);
  if (exported === undefined) {
    const functions = [...exports].filter(([, { local }]) => bindings.get(local ?? '')?.type === 'function');
    return { type: 'not-exported', exported: functions.map(([exportedName]) => exportedName) };
  }
  if (exported.local === undefined) {
    return { type: 'not-function', offset: exported.offset, found: 'exported from another file' };
  }
  const binding = bindings.get(exported.local);
  if (binding === undefined) return { type: 'not-function', offset: exported.offset, found: 'something else' };
  const found = describeBinding(binding);
  if (found.type === 'not-function' || !('statement' in binding)) return found;
  return { ...found, documentation: findDocumentation(source, comments, binding.statement) };
}

/** Checks that an expression is a function expression, or the name of a function. */
export function describeFunction(outer: Expression, bindings: ReadonlyMap<string, Binding>): FoundFunction {
  const node = unwrapExpression(outer);
  const binding = node.type === 'Identifier' ? bindings.get(node.name) : undefined;
  return binding === undefined ? describeValue(node, node.start) : describeBinding(binding);
}

function describeBinding(binding: Binding): FoundFunction {
  switch (binding.type) {
    case 'import':
      return { type: 'not-function', offset: binding.offset, found: 'imported' };
    case 'other':
      return { type: 'not-function', offset: binding.offset, found: binding.what };
    case 'const':
      return describeValue(unwrapExpression(binding.value), binding.offset);
    case 'function':
      return describeValue(binding.value, binding.offset);
  }
}

function describeValue(value: Expression | FunctionLike, offset: number): FoundFunction {
  switch (value.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      if (value.generator) return { type: 'not-function', offset, found: 'a generator, whose result is not JSON' };
      break;
    case 'ArrowFunctionExpression':
      break;
    default:
      return { type: 'not-function', offset, found: 'another kind of value' };
  }
  const parameters = value.params.filter((parameter) => parameter.type !== 'Identifier' || parameter.name !== 'this');
  const takesInput = parameters.length > 0;
  return { type: 'function', offset, takesInput, taken: describeTaken(parameters[0]), documentation: undefined };
}

type Parameter = FunctionLike['params'][number];

function describeTaken(parameter: Parameter | undefined): TakenParameter {
  const pattern = parameter?.type === 'AssignmentPattern' ? parameter.left : parameter;
  return {
    name: pattern?.type === 'Identifier' ? pattern.name : undefined,
    keys: pattern?.type === 'ObjectPattern' ? listKeys(pattern) : undefined,
  };
}

function listKeys({ properties }: ObjectPattern): TakenParameter['keys'] {
  const keys = properties.flatMap((property) => {
    if (property.type !== 'Property' || property.computed || property.key.type !== 'Identifier') return [];
    return [{ name: property.key.name, hasDefault: property.value.type === 'AssignmentPattern' }];
  });
  return keys.length === properties.length ? keys : undefined;
}

function findDocumentation(source: string, comments: readonly Comment[], offset: number): string | undefined {
  const comment = comments.findLast(({ end }) => end <= offset);
  if (comment?.type !== 'Block' || !comment.value.startsWith('*')) return undefined;
  if (source.slice(comment.end, offset).trim() !== '') return undefined;
  const lines = comment.value
    .slice(1)
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/^\s*\*? ?/, '').trim());
  const firstTag = lines.findIndex((line) => line.startsWith('@'));
  const text = lines
    .slice(0, firstTag < 0 ? lines.length : firstTag)
    .join(' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return text === '' ? undefined : text;
}
