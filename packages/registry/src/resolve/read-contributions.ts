import {
  copyJson,
  defineResource,
  defineSlice,
  defineTool,
  isPack,
  isPlainObject,
  isResourceDefinition,
  type JsonObject,
  type Pack,
  type PluginCommand,
  type PluginContributions,
  type PluginModel,
  type Policy,
  type PolicyStateDefinition,
  type ResourceDefinition,
  type Schema,
  type Section,
  type Slice,
  type TaskExample,
  type Tool,
  type ToolDefinition,
  type ToolOrigin,
} from '@holdfast/core';
import { checkToolExamples, compileSchema } from '@holdfast/schema';

/** What a plugin contributes, checked. */
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

/** Deeper sections are a mistake in whatever makes them, a cycle for one. */
const maxDepth = 64;
const packName = /^[a-z0-9][a-z0-9-]{0,31}$/;
const policyId = /^[a-z0-9][a-z0-9-]{0,63}$/;
const modelName = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
const commandName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const sectionKey = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const line = /^[^\p{Cc}\u2028\u2029]{1,200}$/u;

/**
 * Checks what a plugin, or its `setup`, contributes, and copies it, so that nothing its author does later changes what is in force.
 * What tools ask for by identity, slices and resources, stays what it is. `origin` is that of tools that do not say theirs;
 * `gateUndeclared` makes tools dangerous that say neither `dangerous` nor `effects`.
 *
 * @throws whatever reading it does, and an Error that says what is wrong with it.
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
  if (!Array.isArray(list)) throw new Error(`its \`${kind}\` are no list`);
  return Array.from(list, (item: unknown, index) => {
    const made = read(item);
    if (typeof made === 'string') throw new Error(`what it has in \`${kind}\` at ${index + 1} ${made}`);
    return made;
  });
}

/** A copy with the keys that are there, each read once; a message for what is no plain object. */
function pick(value: unknown): Record<string, unknown> | string {
  return isPlainObject(value) ? { ...value } : 'is none';
}

function readTool(value: unknown, { origin, gateUndeclared }: ContributionOptions): Tool | string {
  const tool = pick(value);
  if (typeof tool === 'string' || typeof tool['name'] !== 'string' || typeof tool['description'] !== 'string')
    return 'is none: make it with `defineTool`';
  const functions = ['execute', 'probe', 'renderResult', 'locks'].every((key) => isFunctionOrAbsent(tool[key]));
  if (!functions || !Array.isArray(tool['examples'])) return 'is none: make it with `defineTool`';
  const ownOrigin = readOrigin(tool['origin'] ?? undefined);
  if (typeof ownOrigin === 'string') return ownOrigin;
  // Of the shape that `defineTool` takes, which checks the rest and copies what is not frozen.
  const made = defineTool({ ...tool, origin: ownOrigin ?? origin } as unknown as ToolDefinition<unknown, unknown>);
  checkSchemas(made);
  if (tool['undeclared'] !== true) return made;
  return Object.freeze({ ...made, undeclared: true, dangerous: made.dangerous || gateUndeclared });
}

/** It is shown, compared and bound to approvals, of all tools together. */
function readOrigin(value: unknown): ToolOrigin | string | undefined {
  if (value === undefined) return undefined;
  const { kind, source, digest } = isPlainObject(value) ? value : {};
  const made = kind === 'file' || kind === 'plugin' || kind === 'mcp';
  if (!made || typeof source !== 'string' || !(digest === undefined || typeof digest === 'string'))
    return 'has an `origin` that is none: a `kind`, a `source` and perhaps a `digest`';
  return Object.freeze({ kind, source, ...(digest === undefined ? {} : { digest }) });
}

/** What would keep every call and prompt from beginning that has the tool among others. */
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
  if (typeof policy === 'string') return 'is none: make it with `definePolicy`';
  const { id, name, tools } = policy;
  const made =
    typeof name === 'string' &&
    typeof id === 'string' &&
    policyId.test(id) &&
    Array.isArray(tools) &&
    tools.every((tool) => typeof tool === 'string') &&
    typeof policy['check'] === 'function' &&
    ['onResult', 'reserve'].every((key) => isFunctionOrAbsent(policy[key]));
  if (!made) return 'is none: make it with `definePolicy`';
  const state = readState(policy['state']);
  if (typeof state === 'string') return `has a state that cannot be kept, \`${id}\`: ${state}`;
  return Object.freeze({ ...policy, tools: Object.freeze([...tools]), state }) as unknown as Policy;
}

const stateKinds: readonly unknown[] = ['value', 'list', 'keyed'];

/** The states of all policies are read for every call, whoever's it is. */
function readState(value: unknown): PolicyStateDefinition | string | undefined {
  if (value === undefined) return undefined;
  const { kind, initial, schema } = isPlainObject(value) ? value : {};
  if (!stateKinds.includes(kind)) return 'it is neither a value, nor a list, nor keyed';
  const copied = copyJson(initial ?? null);
  if (!copied.ok) return `its first value is not JSON: ${copied.problem}`;
  // What cannot be compiled throws.
  if (schema !== undefined) compileSchema(schema as Schema);
  return Object.freeze({
    ...value,
    initial: initial === undefined ? undefined : copied.value,
  }) as PolicyStateDefinition;
}

function readPack(value: unknown): Pack | string {
  return isPack(value) && typeof value.name === 'string' && packName.test(value.name)
    ? value
    : 'is none: make it with `definePack`';
}

function readSection(value: unknown, toTool: (tool: unknown) => Tool | string, depth: number): Section | string {
  if (depth === 0) return `is nested more than ${maxDepth} levels deep`;
  const section = pick(value);
  if (typeof section === 'string') return 'is none: make it with `markdownSection`';
  const { key, title, template } = section;
  if (typeof key !== 'string' || !sectionKey.test(key) || typeof title !== 'string' || typeof template !== 'string')
    return 'is none: make it with `markdownSection`';
  const tools = readList('tools', section['tools'], toTool);
  const policies = readList('policies', section['policies'], readPolicy);
  const slices = readList('slices', section['slices'], readSlice);
  const taskExamples = readList('taskExamples', section['taskExamples'], readTaskExample);
  const children = readList('children', section['children'], (child) => readSection(child, toTool, depth - 1));
  // The rest is for the prompt to check, which it does for every section.
  return Object.freeze({ ...section, tools, policies, slices, taskExamples, children }) as unknown as Section;
}

function readTaskExample(value: unknown): TaskExample | string {
  const example = pick(value);
  if (typeof example === 'string' || !Array.isArray(example['steps'])) return 'is none';
  const steps = readList('steps', example['steps'], (step) => pick(step));
  return Object.freeze({ ...example, steps }) as unknown as TaskExample;
}

// What the runtime keeps itself, grants and the states of policies among it.
const ownSlices: readonly string[] = ['holdfast/', 'policy:'];

/** A map of functions. Not an `instanceof` check: a plugin may bring its own copy of core. */
function isReducers(value: unknown): boolean {
  try {
    const map = value as Slice['reducers'];
    return (
      typeof map.get === 'function' &&
      typeof map.size === 'number' &&
      [...map].every(([event, reducer]) => typeof event === 'string' && typeof reducer === 'function')
    );
  } catch {
    // What cannot be looked through is no map.
    return false;
  }
}

function readSlice(value: unknown): Slice | string {
  if (!isPlainObject(value) || !isReducers(value['reducers'])) return 'is none: make it with `defineSlice`';
  const { kind, retention } = value;
  const initial = copyJson(value['initial'] ?? null);
  const made = stateKinds.includes(kind) && (retention === 'state' || retention === 'log');
  if (!made) return 'is none: make it with `defineSlice`';
  if (!initial.ok) return `has a first value that is not JSON: ${initial.problem}`;
  const { id, schema } = value as unknown as Slice;
  // Checks the id. What a tool reads and dispatches to is the slice itself.
  defineSlice({ id, kind: 'value', initial: initial.value, reducers: {} });
  if (schema !== undefined) compileSchema(schema);
  return ownSlices.some((start) => id.startsWith(start))
    ? `has the id \`${id}\`, which is Holdfast's own`
    : (value as unknown as Slice);
}

function readResource(value: unknown): ResourceDefinition | string {
  if (!isResourceDefinition(value)) return 'is none: make it with `defineResource`';
  // Checks it. What a tool asks for is the definition itself.
  defineResource(value);
  return value;
}

function readModel(value: unknown): PluginModel | string {
  const model = pick(value);
  if (typeof model === 'string') return model;
  const { name, description, create } = model;
  if (!isName(name, modelName, 64)) return 'needs a name: lower case words joined by `-` or `.`, 64 characters at most';
  if (!isLine(description)) return `needs a \`description\` of one line, \`${name}\``;
  if (typeof create !== 'function') return `needs a \`create\` function, \`${name}\``;
  return Object.freeze(model) as unknown as PluginModel;
}

function readCommand(value: unknown): PluginCommand | string {
  const command = pick(value);
  if (typeof command === 'string') return command;
  const { name, description, run } = command;
  if (!isName(name, commandName, 32)) return 'needs a name: lower case words joined by `-`, 32 characters at most';
  if (!isLine(description)) return `needs a \`description\` of one line, \`${name}\``;
  if (typeof run !== 'function') return `needs a \`run\` function, \`${name}\``;
  return Object.freeze(command) as unknown as PluginCommand;
}

function readFolder(value: unknown): URL | string {
  return value instanceof URL ? value : 'is no URL';
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
