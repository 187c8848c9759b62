import {
  copyJson,
  describeThrown,
  findToolNameProblem,
  HoldfastError,
  type Json,
  type JsonObject,
  type Pack,
  type Plugin,
  type Policy,
  type Schema,
  type Section,
  type Tool,
} from '@holdfast/core';
import { compileHostSchema, compileSchema } from '@holdfast/schema';

/** One thing that a plugin declares. */
export interface NamedDefinition {
  /** Kind and name, `tool:push`. */
  readonly key: string;
  /** What is said of it; what is not said is not there. */
  readonly fields: JsonObject;
}

// Deeper than anybody writes, and an end for what is its own child.
const maxSectionDepth = 16;

/** Everything that a plugin declares; what its `setup` and folders would bring is not among it. */
export function describePlugin(plugin: Plugin): readonly NamedDefinition[] {
  const { description, holdfast, configSchema } = plugin;
  const { tools = [], policies = [], packs = [], sections = [], slices = [] } = plugin;
  const { models = [], resources = [], commands = [] } = plugin;
  return [
    named('plugin', plugin.name, { description, holdfast, options: jsonSchemaOf(configSchema) }),
    ...each('tools', tools, describeTool),
    ...each('policies', policies, (policy) => named('policy', policy.id, policyOf(policy))),
    ...each('packs', packs, describePack),
    ...each('sections', sections, (section) => describeSection(section, [])).flat(),
    ...each('slices', slices, ({ id, kind, retention }) => named('slice', id, { kind, retention })),
    ...each('models', models, (model) => named('model', model.name, { description: model.description })),
    ...each('resources', resources, ({ name, lifetime }) => named('resource', name, { lifetime })),
    ...each('commands', commands, (command) => named('command', command.name, { description: command.description })),
  ];
}

/** Nobody has looked at what is in the lists before. */
function each<Item, Described>(
  kind: string,
  list: readonly Item[],
  toDescribed: (item: Item) => Described,
): readonly Described[] {
  return list.map((item, index) => {
    try {
      return toDescribed(item);
    } catch (cause) {
      throw new HoldfastError(
        'plugin.definition.invalid',
        `number ${index + 1} of its \`${kind}\`: ${describeThrown(cause)}`,
        { cause },
      );
    }
  });
}

/** What a pack declares. Each preset is a field. */
export function describePack({ name, version, description, configSchema, presets }: Pack): NamedDefinition {
  const fields = Object.entries(presets).map(([preset, value]) => [`preset ${preset}`, value] as const);
  return named('pack', name, {
    version,
    description,
    options: jsonSchemaOf(configSchema),
    ...Object.fromEntries(fields),
  });
}

function describeTool(tool: Tool): NamedDefinition {
  const problem = findToolNameProblem(tool.name);
  if (problem !== undefined) throw new HoldfastError('plugin.definition.invalid', problem.message);
  const { inputSchema, outputSchema, examples, acceptsOverrides } = tool;
  return named('tool', tool.name, {
    description: tool.description,
    parameters: jsonSchemaOf(inputSchema),
    returns: jsonSchemaOf(outputSchema),
    effects: tool.effects,
    repeat: tool.repeat,
    dangerous: tool.dangerous,
    undeclared: tool.undeclared,
    timeoutMs: tool.timeoutMs,
    retry: tool.retry,
    examples: examples.length === 0 ? undefined : examples,
    acceptsOverrides: acceptsOverrides ? undefined : false,
    environment: tool.environment,
    origin: tool.origin === undefined ? undefined : asSent(tool.origin),
  });
}

function policyOf({ name, tools }: Policy): Fields {
  return { name, tools };
}

/** The section, its tools, and the same of everything under it. Its policies are told with it: two sections may have the same ones. */
function describeSection(section: Section, above: readonly string[]): readonly NamedDefinition[] {
  const path = [...above, section.key];
  if (path.length > maxSectionDepth) {
    throw new HoldfastError('plugin.definition.invalid', `sections are nested deeper than ${maxSectionDepth} levels`);
  }
  const { title, template, summary, visibility, params, defaults, enabled } = section;
  const { tools, policies, slices, taskExamples, acceptsOverrides, children } = section;
  const own = named('section', path.join('.'), {
    title,
    template,
    summary,
    visibility: typeof visibility === 'function' ? 'rule' : visibility,
    conditional: enabled === undefined ? undefined : true,
    // A host gives these, and they need not be JSON.
    parameters: params === undefined ? undefined : asSent(compileHostSchema(params).jsonSchema),
    defaults: Object.keys(defaults).length === 0 ? undefined : toPrintable(defaults),
    tools: tools.map(({ name }) => name),
    policies: policies.length === 0 ? undefined : policies.map((policy) => ({ id: policy.id, ...policyOf(policy) })),
    slices: slices.length === 0 ? undefined : slices.map(({ id }) => id),
    taskExamples: taskExamples.length === 0 ? undefined : taskExamples,
    acceptsOverrides: acceptsOverrides ? undefined : false,
  });
  return [own, ...tools.map(describeTool), ...children.flatMap((child) => describeSection(child, path))];
}

type Fields = Readonly<Record<string, unknown>>;

function named(kind: string, name: unknown, fields: Fields): NamedDefinition {
  if (typeof name !== 'string') throw new HoldfastError('plugin.definition.invalid', `a ${kind} without a name`);
  const key = `${kind}:${name}`;
  const said = Object.entries(fields).flatMap(([field, value]): [string, Json][] => {
    if (value === undefined) return [];
    const copied = copyJson(value);
    if (copied.ok) return [[field, copied.value]];
    throw new HoldfastError('plugin.definition.invalid', `\`${field}\` of \`${key}\` is no JSON: ${copied.problem}`);
  });
  return { key, fields: Object.fromEntries(said) };
}

function jsonSchemaOf(schema: Schema | undefined): JsonObject | undefined {
  return schema === undefined ? undefined : asSent(compileSchema(schema).jsonSchema);
}

/** As a model would be sent it: what is undefined is not there. */
function asSent(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** Each value, or that it is none that could be shown, such as a date. */
function toPrintable(values: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const copied = copyJson(value);
      return [key, copied.ok ? copied.value : '(not JSON)'];
    }),
  );
}
