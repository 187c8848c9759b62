import type { CallExpression, Expression, ObjectExpression, ObjectProperty, ObjectPropertyKind } from 'oxc-parser';
import { describeFunction, type FoundFunction } from '../parse/exported-function.ts';
import { unwrapExpression } from '../parse/literal.ts';
import type { Binding, ModuleOutline } from '../parse/outline.ts';
import type { Finding } from '../text/diagnostic.ts';

/** The tool definition in a module's default export. */
export type DefinitionReading =
  | {
      readonly type: 'definition';
      /** The argument of `defineTool` without its functions, with plain JSON Schemas. */
      readonly metadata: ObjectExpression;
      readonly execute: Extract<FoundFunction, { type: 'function' }>;
      readonly offset: number;
    }
  | { readonly type: 'none' }
  | { readonly type: 'problem'; readonly finding: Finding; readonly offset: number };

type Problem = Extract<DefinitionReading, { type: 'problem' }>;
type Bindings = ReadonlyMap<string, Binding>;

/**
 * Reads `export default defineTool({ … })` without running it. `defineTool` must be imported from `@holdfast/core` and
 * `jsonSchema` from `@holdfast/schema/json`, under any name; `none` for any other default export.
 */
export function readDefinition({ bindings, exports }: ModuleOutline): DefinitionReading {
  const exported = exports.get('default');
  const binding = exported?.local === undefined ? undefined : bindings.get(exported.local);
  if (binding?.type !== 'const') return { type: 'none' };
  const { expression: call, offset } = followNames(binding.value, bindings);
  if (call.type !== 'CallExpression') return { type: 'none' };
  switch (originOf(call, 'defineTool', bindings)) {
    case 'unlike':
      return { type: 'none' };
    case 'foreign':
      return importProblem('defineTool', call.start);
    case 'own':
      return readCall(call, offset, bindings);
  }
}

function readCall(call: CallExpression, above: number, bindings: Bindings): DefinitionReading {
  const [argument] = call.arguments;
  const definition =
    argument === undefined || argument.type === 'SpreadElement' ? undefined : followNames(argument, bindings, above);
  if (definition?.expression.type !== 'ObjectExpression' || call.arguments.length > 1) {
    const hint = 'Write `export default defineTool({ name, description, inputSchema, execute });`.';
    return notLiteral(call.start, 'The argument of `defineTool` must be an object literal.', hint);
  }
  const { expression: object } = definition;
  const members: ObjectPropertyKind[] = [];
  let execute: FoundFunction | undefined;
  for (const property of object.properties) {
    const key = plainKey(property);
    // Other members are refused when the literal is read.
    if (key === undefined) members.push(property);
    else if (unsupported.has(key)) {
      const hint = unsupported.get(key) ?? elsewhere;
      const finding = {
        code: 'tool.metadata.invalid',
        reason: 'definition.unsupported',
        message: `\`${key}\` is not allowed in a tool file.`,
        hint,
      };
      return problem(property.start, finding);
    } else if (key === 'execute' && execute !== undefined)
      return notLiteral(property.start, 'The definition contains the key `execute` twice.', 'Keep one of the two.');
    else if (key === 'execute') execute = describeFunction((property as ObjectProperty).value, bindings);
    else if (key === 'inputSchema' || key === 'outputSchema') {
      const schema = readSchema(property as ObjectProperty, key, definition.offset, bindings);
      if (schema.type === 'problem') return schema;
      members.push(schema.property);
    } else members.push(property);
  }
  const hidden = object.properties.find((property) => plainKey(property) === undefined);
  if (execute === undefined && hidden !== undefined) {
    const hint = 'Write every member as `key: value`: the file is read without running it.';
    return notLiteral(hidden.start, 'The definition contains a member that is not a literal, and no `execute`.', hint);
  }
  if (execute?.type !== 'function') return executeProblem(execute, object.start);
  return { type: 'definition', metadata: { ...object, properties: members }, execute, offset: call.start };
}

type SchemaReading = { readonly type: 'property'; readonly property: ObjectProperty } | Problem;

// Replaces the call by its argument, so that both forms are read alike.
function readSchema(property: ObjectProperty, key: string, above: number, bindings: Bindings): SchemaReading {
  const { expression: call, offset } = followNames(property.value, bindings, above);
  const origin = call.type === 'CallExpression' ? originOf(call, 'jsonSchema', bindings) : 'unlike';
  if (origin === 'foreign') return importProblem('jsonSchema', call.start);
  const [argument] = call.type === 'CallExpression' ? call.arguments : [];
  if (origin === 'own' && argument !== undefined && argument.type !== 'SpreadElement') {
    return { type: 'property', property: { ...property, value: followNames(argument, bindings, offset).expression } };
  }
  const message = `The value of \`${key}\` is only known at run time.`;
  const hint = `Write \`${key}: jsonSchema({ … })\` with \`jsonSchema\` of \`${sources.jsonSchema}\`; schemas of libraries cannot be read.`;
  return problem(property.start, { code: 'tool.metadata.invalid', reason: 'definition.schema', message, hint });
}

/** Resolves a chain of constant names to its expression and offset. */
function followNames(
  outer: Expression,
  bindings: Bindings,
  above = Number.POSITIVE_INFINITY,
): { readonly expression: Expression; readonly offset: number } {
  let expression = unwrapExpression(outer);
  let offset = Math.min(above, expression.start);
  while (expression.type === 'Identifier') {
    const binding = bindings.get(expression.name);
    // A constant is undefined above its own line. Only looking upwards also prevents cycles.
    if (binding?.type !== 'const' || binding.offset >= offset) break;
    offset = binding.offset;
    expression = unwrapExpression(binding.value);
  }
  return { expression, offset };
}

const sources = { defineTool: '@holdfast/core', jsonSchema: '@holdfast/schema/json' } as const;
type Known = keyof typeof sources;

/** Whose function a call uses: ours of this `name`, another function of that name, or something else. */
function originOf({ callee }: CallExpression, name: Known, bindings: Bindings): 'own' | 'foreign' | 'unlike' {
  const node = unwrapExpression(callee);
  if (node.type === 'Identifier') {
    const binding = bindings.get(node.name);
    const isImport = binding?.type === 'import' && binding.imported === name;
    if (isImport && binding.source === sources[name]) return 'own';
    return isImport || node.name === name ? 'foreign' : 'unlike';
  }
  if (node.type !== 'MemberExpression' || node.computed || node.property.name !== name) return 'unlike';
  const object = unwrapExpression(node.object);
  const binding = object.type === 'Identifier' ? bindings.get(object.name) : undefined;
  return binding?.type === 'import' && binding.imported === '*' && binding.source === sources[name] ? 'own' : 'foreign';
}

function plainKey(property: ObjectPropertyKind): string | undefined {
  if (property.type === 'SpreadElement' || property.kind !== 'init' || property.computed) return undefined;
  const { key } = property;
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : undefined;
}

function problem(offset: number, finding: Finding): Problem {
  return { type: 'problem', offset, finding };
}

function notLiteral(offset: number, message: string, hint: string): Problem {
  return problem(offset, { code: 'tool.metadata.invalid', reason: 'not_literal', message, hint });
}

function importProblem(name: Known, offset: number): Problem {
  const message = `\`${name}\` is not imported from \`${sources[name]}\`, so its result is unknown.`;
  const hint = `Write \`import { ${name} } from '${sources[name]}';\`.`;
  return problem(offset, { code: 'tool.metadata.invalid', reason: 'definition.import', message, hint });
}

function executeProblem(found: Extract<FoundFunction, { type: 'not-function' }> | undefined, offset: number): Problem {
  const hint = 'Write `execute(input, context) { … }` in this file.';
  if (found === undefined)
    return problem(offset, { code: 'tool.function.missing', message: 'The definition has no `execute`.', hint });
  const message = `Cannot verify that \`execute\` is a function: it is ${found.found}.`;
  return problem(found.offset, { code: 'tool.function.not_function', message, hint });
}

const elsewhere = 'Remove it: a host that needs it imports the tool as code.';
const unsupported: ReadonlyMap<string, string> = new Map([
  ['locks', "Use METADATA, which supports `resources: ['$input.path']`."],
  ['probe', elsewhere],
  ['renderResult', elsewhere],
  ['acceptsOverrides', elsewhere],
  ['origin', 'Remove it: the origin of a tool in a file is the file.'],
]);
