import {
  defineResource,
  defineSlice,
  defineTool,
  type JsonObject,
  type Pack,
  type PluginContributions,
  type Policy,
  type ResourceDefinition,
  type Schema,
  type Section,
  type Slice,
  type Tool,
  type ToolDefinition,
} from '@holdfast/core';
import { copyJson, isPack, isPlainObject, isResourceDefinition } from '@holdfast/core/internal';
import type { PluginCommand, PluginModel, PolicyStateDefinition, TaskExample, ToolOrigin } from '@holdfast/core/types';
import { compileSchema } from '@holdfast/schema';
import { checkToolExamples } from '@holdfast/schema/internal';

/** The checked contributions of a plugin. */
export interface Contributions {
  readonly tools: readonly Tool[];
  readonly policies: readonly Policy[];
  readonly packs: readonly Pack[];
  readonly sections: readonly Section[];
  readonly slices: readonly Slice[];
  readonly models: readonly PluginModel[];
  readonly resources: readonly ResourceDefinition[];
  readonly commands: readonly PluginCommand[];
  readonly toolFolders: readonly URL[];
}

export interface ContributionOptions {
  readonly origin: ToolOrigin | undefined;
  readonly gateUndeclared: boolean;
}

/** Deeper nesting is an error, such as a cycle. */
const maxDepth = 64;
const packName = /^[a-z0-9][a-z0-9-]{0,31}$/;
const policyId = /^[a-z0-9][a-z0-9-]{0,63}$/;
const modelName = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
const commandName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const sectionKey = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const line = /^[^\p{Cc}\u2028\u2029]{1,200}$/u;

/**
 * Checks and copies the contributions of a plugin or its `setup`, so that later changes by its author have no effect.
 * Slices and resources keep their identity, which tools rely on. `origin` applies to tools without one;
 * `gateUndeclared` marks tools as dangerous that declare neither `dangerous` nor `effects`.
 *
 * @throws an Error that names the problem, or the error of a property access.
 */
export function readContributions(given: PluginContributions, options: ContributionOptions): Contributions {
  const toTool = (tool: unknown): Tool | string => readTool(tool, options);
  return {
    tools: readList('tools', given.tools, toTool),
    toolFolders: readList('toolFolders', given.toolFolders, readFolder),
    policies: readList('policies', given.policies, readPolicy),
    packs: readList('packs', given.packs, readPack),
    sections: readList('sections', given.sections, (section) => readSection(section, toTool, maxDepth)),
    slices: readList('slices', given.slices, readSlice),
    models: readList('models', given.models, readModel),
    resources: readList('resources', given.resources, readResource),
    commands: readList('commands', given.commands, readCommand),
  };
}

function readList<Item>(kind: string, list: unknown, read: (item: unknown) => Item | string): readonly Item[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new Error(`its \`${kind}\` must be a list`);
  return Array.from(list, (item: unknown, index) => {
    const made = read(item);
    if (typeof made === 'string') throw new Error(`item ${index + 1} of its \`${kind}\` ${made}`);
    return made;
  });
}

/** A copy that reads each key once; a message if not a plain object. */
function pick(value: unknown): Record<string, unknown> | string {
  return isPlainObject(value) ? { ...value } : 'must be an object';
}

function readTool(value: unknown, { origin, gateUndeclared }: ContributionOptions): Tool | string {
  const tool = pick(value);
  if (typeof tool === 'string' || typeof tool['name'] !== 'string' || typeof tool['description'] !== 'string')
    return 'is invalid: use `defineTool`';
  const functions = ['execute', 'probe', 'renderResult', 'locks'].every((key) => isFunctionOrAbsent(tool[key]));
  if (!functions || !Array.isArray(tool['examples'])) return 'is invalid: use `defineTool`';
  const ownOrigin = readOrigin(tool['origin'] ?? undefined);
  if (typeof ownOrigin === 'string') return ownOrigin;
  // It has the shape that `defineTool` takes, which checks the rest and copies unfrozen parts.
  const made = defineTool({ ...tool, origin: ownOrigin ?? origin } as unknown as ToolDefinition<unknown, unknown>);
  checkSchemas(made);
  if (tool['undeclared'] !== true) return made;
  return Object.freeze({ ...made, undeclared: true, dangerous: made.dangerous || gateUndeclared });
}

/** Displayed, compared and bound to approvals, so it must be valid. */
function readOrigin(value: unknown): ToolOrigin | string | undefined {
  if (value === undefined) return undefined;
  const { kind, source, digest } = isPlainObject(value) ? value : {};
  const made = kind === 'file' || kind === 'plugin' || kind === 'mcp';
  if (!made || typeof source !== 'string' || !(digest === undefined || typeof digest === 'string'))
    return 'has an invalid `origin`: a `kind`, a `source` and optionally a `digest` are expected';
  return Object.freeze({ kind, source, ...(digest === undefined ? {} : { digest }) });
}

/** An invalid schema would fail every call and prompt that includes the tool. */
function checkSchemas(tool: Tool): void {
  const input = tool.inputSchema === undefined ? undefined : compileSchema(tool.inputSchema).jsonSchema;
  if (input !== undefined && !describesObject(input))
    throw new Error(`the input schema of \`${tool.name}\` must describe an object`);
  if (tool.outputSchema !== undefined) compileSchema(tool.outputSchema);
  checkToolExamples(tool);
}

function describesObject(schema: JsonObject): boolean {
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  return ['properties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((keyword) => Object.hasOwn(schema, keyword));
}

function readPolicy(value: unknown): Policy | string {
  const policy = pick(value);
  if (typeof policy === 'string') return 'is invalid: use `definePolicy`';
  const { id, name, mentions } = policy;
  const made =
    typeof name === 'string' &&
    typeof id === 'string' &&
    policyId.test(id) &&
    Array.isArray(mentions) &&
    mentions.every((tool) => typeof tool === 'string') &&
    typeof policy['check'] === 'function' &&
    ['onResult', 'reserve'].every((key) => isFunctionOrAbsent(policy[key]));
  if (!made) return 'is invalid: use `definePolicy`';
  const state = readState(policy['state']);
  if (typeof state === 'string') return `has an unsupported state, \`${id}\`: ${state}`;
  return Object.freeze({ ...policy, mentions: Object.freeze([...mentions]), state }) as unknown as Policy;
}

const stateKinds: readonly unknown[] = ['value', 'list', 'keyed'];

/** Every call reads the states of all policies. */
function readState(value: unknown): PolicyStateDefinition | string | undefined {
  if (value === undefined) return undefined;
  const { kind, initial, schema } = isPlainObject(value) ? value : {};
  if (!stateKinds.includes(kind)) return 'its kind must be value, list or keyed';
  const copied = copyJson(initial ?? null);
  if (!copied.ok) return `its initial value is not JSON: ${copied.problem}`;
  // Throws if it cannot be compiled.
  if (schema !== undefined) compileSchema(schema as Schema);
  return Object.freeze({
    ...value,
    initial: initial === undefined ? undefined : copied.value,
  }) as PolicyStateDefinition;
}

function readPack(value: unknown): Pack | string {
  return isPack(value) && typeof value.name === 'string' && packName.test(value.name)
    ? value
    : 'is invalid: use `definePack`';
}

function readSection(value: unknown, toTool: (tool: unknown) => Tool | string, depth: number): Section | string {
  if (depth === 0) return `is nested more than ${maxDepth} levels deep`;
  const section = pick(value);
  if (typeof section === 'string') return 'is invalid: use `markdownSection`';
  const { key, title, template } = section;
  if (typeof key !== 'string' || !sectionKey.test(key) || typeof title !== 'string' || typeof template !== 'string')
    return 'is invalid: use `markdownSection`';
  const tools = readList('tools', section['tools'], toTool);
  const policies = readList('policies', section['policies'], readPolicy);
  const slices = readList('slices', section['slices'], readSlice);
  const taskExamples = readList('taskExamples', section['taskExamples'], readTaskExample);
  const children = readList('children', section['children'], (child) => readSection(child, toTool, depth - 1));
  // The prompt checks the rest, as for every section.
  return Object.freeze({ ...section, tools, policies, slices, taskExamples, children }) as unknown as Section;
}

function readTaskExample(value: unknown): TaskExample | string {
  const example = pick(value);
  if (typeof example === 'string' || !Array.isArray(example['steps'])) return 'is invalid';
  const steps = readList('steps', example['steps'], (step) => pick(step));
  return Object.freeze({ ...example, steps }) as unknown as TaskExample;
}

// Prefixes of the runtime's own slices, such as grants and policy states.
const ownSlices: readonly string[] = ['holdfast/', 'policy:'];

/** A map of functions. No `instanceof`: a plugin may bring its own copy of core. */
function isReducers(value: unknown): boolean {
  try {
    const map = value as Slice['reducers'];
    return (
      typeof map.get === 'function' &&
      typeof map.size === 'number' &&
      [...map].every(([event, reducer]) => typeof event === 'string' && typeof reducer === 'function')
    );
  } catch {
    // A value that throws when inspected is not a map.
    return false;
  }
}

function readSlice(value: unknown): Slice | string {
  if (!isPlainObject(value) || !isReducers(value['reducers'])) return 'is invalid: use `defineSlice`';
  const { kind, retention } = value;
  const initial = copyJson(value['initial'] ?? null);
  const made = stateKinds.includes(kind) && (retention === 'state' || retention === 'log');
  if (!made) return 'is invalid: use `defineSlice`';
  if (!initial.ok) return `has an initial value that is not JSON: ${initial.problem}`;
  const { id, schema } = value as unknown as Slice;
  // Checks the id. Tools read and dispatch to the original slice.
  defineSlice({ id, kind: 'value', initial: initial.value, reducers: {} });
  if (schema !== undefined) compileSchema(schema);
  return ownSlices.some((start) => id.startsWith(start))
    ? `has the id \`${id}\`, which is reserved for Holdfast`
    : (value as unknown as Slice);
}

function readResource(value: unknown): ResourceDefinition | string {
  if (!isResourceDefinition(value)) return 'is invalid: use `defineResource`';
  // Checks it. Tools refer to the original definition.
  defineResource(value);
  return value;
}

function readModel(value: unknown): PluginModel | string {
  const model = pick(value);
  if (typeof model === 'string') return model;
  const { name, description, create } = model;
  if (!isName(name, modelName, 64))
    return 'needs a name of lower-case words joined by `-` or `.`, at most 64 characters';
  if (!isLine(description)) return `(\`${name}\`) needs a \`description\` of one line`;
  if (typeof create !== 'function') return `(\`${name}\`) needs a \`create\` function`;
  return Object.freeze(model) as unknown as PluginModel;
}

function readCommand(value: unknown): PluginCommand | string {
  const command = pick(value);
  if (typeof command === 'string') return command;
  const { name, description, run } = command;
  if (!isName(name, commandName, 32)) return 'needs a name of lower-case words joined by `-`, at most 32 characters';
  if (!isLine(description)) return `(\`${name}\`) needs a \`description\` of one line`;
  if (typeof run !== 'function') return `(\`${name}\`) needs a \`run\` function`;
  return Object.freeze(command) as unknown as PluginCommand;
}

function readFolder(value: unknown): URL | string {
  return value instanceof URL ? value : 'must be a URL';
}

function isName(name: unknown, pattern: RegExp, maxLength: number): name is string {
  return typeof name === 'string' && name.length <= maxLength && pattern.test(name);
}

function isLine(text: unknown): boolean {
  return typeof text === 'string' && line.test(text) && text.trim() !== '';
}

function isFunctionOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}
