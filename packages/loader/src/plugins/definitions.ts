import {
  copyJson,
  describeThrown,
  findToolNameProblem,
  HoldfastError,
  isPack,
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
import {
  isPluginId,
  type LockedDefinitions,
  readLockedDefinitions,
  toLockedDefinitionsJson,
} from '../pins/locked-definitions.ts';
import { findHiddenCharacter, makeVisible } from '../text/hidden-text.ts';

/** Where a plugin or pack was imported from, as far as whoever did so knows. More keys are no harm. */
export interface DefinitionSource {
  /** Name and version of the package. */
  readonly package?: string;
  readonly version?: string;
  /** SHA-256 in hexadecimal of the file that was imported. */
  readonly digest?: string;
}

/** What a plugin or pack declares, as JSON, to be compared with a lock. Of code it has the digest of the file that was imported, and nothing else. */
export interface PluginDefinitions extends LockedDefinitions {
  /** `plugin:git` or `pack:shell-guard`. */
  readonly id: string;
  readonly kind: 'plugin' | 'pack';
  readonly name: string;
}

// As much as nobody writes for a model to read, and so little that a lock of a hundred plugins can be read.
const maxLength = 512 * 1024;

/**
 * Describes a plugin or a pack. Of a plugin that has `setup` or `toolFolders`, what they bring is not described: see `loadPlugin`.
 * Nothing of it runs but what makes JSON Schemas of its schemas.
 *
 * @throws HoldfastError `plugin.definition.invalid` (something is not what it should be, is there twice, or it is too much),
 * `plugin.text.hidden` (a text has characters that a model reads and a person does not see).
 */
export function definitionsOf(subject: Plugin | Pack, source: DefinitionSource = {}): PluginDefinitions {
  const kind = isPack(subject) ? 'pack' : 'plugin';
  const { name, version } = subject;
  const id = `${kind}:${name}`;
  const refuse = (problem: string, cause?: unknown): never => {
    throw new HoldfastError(
      'plugin.definition.invalid',
      `The ${kind} \`${makeVisible(String(name)).slice(0, 100)}\` cannot be used: ${makeVisible(problem).slice(0, 400)}.`,
      { data: { [kind]: name }, ...(cause === undefined ? {} : { cause }) },
    );
  };
  if (!isPluginId(id)) refuse('its name is none');
  const definitions = new Map<string, NamedDefinition['fields']>();
  let room = maxLength;
  for (const { key, fields } of describe(subject, refuse)) {
    const text = JSON.stringify(fields);
    const known = definitions.get(key);
    if (known !== undefined && JSON.stringify(known) !== text) refuse(`it has two different \`${key}\``);
    room -= text.length + key.length;
    if (room < 0) refuse(`what it declares is longer than ${maxLength} characters`);
    checkText(subject, key, fields);
    definitions.set(key, fields);
  }
  const described: LockedDefinitions = {
    version,
    package: source.package,
    packageVersion: source.version,
    digest: source.digest,
    definitions,
  };
  // What is written to a lock has to be what a lock is read to be.
  readLockedDefinitions(toLockedDefinitionsJson(described), (problem) => refuse(`it ${problem}`));
  return { id, kind, name, ...described };
}

function describe(
  subject: Plugin | Pack,
  refuse: (problem: string, cause?: unknown) => never,
): readonly NamedDefinition[] {
  try {
    return isPack(subject) ? [describePack(subject)] : describePlugin(subject);
  } catch (thrown) {
    // Its own getters and schemas run here, too.
    return refuse(describeThrown(thrown).replace(/\.$/, ''), thrown);
  }
}

function checkText(subject: Plugin | Pack, key: string, fields: NamedDefinition['fields']): void {
  for (const [field, value] of [['', key] as const, ...Object.entries(fields)]) {
    const character = findHidden(value);
    if (character === undefined) continue;
    const place = field === '' ? 'the name of' : `\`${field}\` of`;
    throw new HoldfastError(
      'plugin.text.hidden',
      `The ${subject.type} \`${subject.name}\` cannot be used: ${place} \`${makeVisible(key).slice(0, 200)}\` holds the invisible character ${character}, which a model reads and a person does not see.`,
      { data: { [subject.type]: subject.name, definition: makeVisible(key), field } },
    );
  }
}

function findHidden(value: unknown): string | undefined {
  if (typeof value === 'string') return findHiddenCharacter(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const character = findHiddenCharacter(key) ?? findHidden(inner);
    if (character !== undefined) return character;
  }
  return undefined;
}

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
function describePlugin(plugin: Plugin): readonly NamedDefinition[] {
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
      const message = `number ${index + 1} of its \`${kind}\`: ${describeThrown(cause)}`;
      throw new HoldfastError('plugin.definition.invalid', message, { cause });
    }
  });
}

/** What a pack declares. Each preset is a field. */
function describePack({ name, version, description, configSchema, presets }: Pack): NamedDefinition {
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
