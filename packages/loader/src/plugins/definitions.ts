import {
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
import { copyJson, describeThrown, findToolNameProblem, isPack } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import { compileHostSchema } from '@holdfast/schema/internal';
import {
  isPluginId,
  type LockedDefinitions,
  readLockedDefinitions,
  toLockedDefinitionsJson,
} from '../pins/locked-definitions.ts';
import { findHiddenCharacter, makeVisible } from '../text/hidden-text.ts';

/** The origin of a plugin or pack, as far as the importer knows. Further keys are ignored. */
export interface DefinitionSource {
  /** Name and version of the package. */
  readonly package?: string;
  readonly version?: string;
  /** SHA-256 in hexadecimal of the imported file. */
  readonly digest?: string;
}

/**
 * The declarations of a plugin or pack as JSON, for comparison with a lock. Its code is represented only by the digest
 * of the imported file.
 */
export interface PluginDefinitions extends LockedDefinitions {
  /** `plugin:git` or `pack:shell-guard`. */
  readonly id: string;
  readonly kind: 'plugin' | 'pack';
  readonly name: string;
}

// More than any author writes for a model, yet small enough to read a lock of a hundred plugins.
const maxLength = 512 * 1024;

/**
 * Describes a plugin or a pack, without the contributions of `setup` and `toolFolders`: see `loadPlugin`. Runs no code
 * but the conversion of its schemas to JSON Schema.
 *
 * @throws HoldfastError `plugin.invalid`: an invalid, duplicate or oversized definition, or a text with invisible characters, which models
 * read and people cannot see.
 */
export function definitionsOf(subject: Plugin | Pack, source: DefinitionSource = {}): PluginDefinitions {
  const kind = isPack(subject) ? 'pack' : 'plugin';
  const { name, version } = subject;
  const id = `${kind}:${name}`;
  const refuse = (problem: string, cause?: unknown): never => {
    throw new HoldfastError(
      'plugin.invalid',
      `Cannot use the ${kind} \`${makeVisible(String(name)).slice(0, 100)}\`: ${makeVisible(problem).slice(0, 400)}.`,
      { data: { reason: 'definition', [kind]: name }, ...(cause === undefined ? {} : { cause }) },
    );
  };
  if (!isPluginId(id)) refuse('its name is invalid');
  const definitions = new Map<string, NamedDefinition['fields']>();
  let room = maxLength;
  for (const { key, fields } of describe(subject, refuse)) {
    const text = JSON.stringify(fields);
    const known = definitions.get(key);
    if (known !== undefined && JSON.stringify(known) !== text) refuse(`it has two different definitions \`${key}\``);
    room -= text.length + key.length;
    if (room < 0) refuse(`its definitions exceed ${maxLength} characters`);
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
  // A lock must be able to read what is written to it.
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
    // The plugin's own getters and schemas run here too.
    return refuse(describeThrown(thrown).replace(/\.$/, ''), thrown);
  }
}

function checkText(subject: Plugin | Pack, key: string, fields: NamedDefinition['fields']): void {
  for (const [field, value] of [['', key] as const, ...Object.entries(fields)]) {
    const character = findHidden(value);
    if (character === undefined) continue;
    const place = field === '' ? 'the name of' : `\`${field}\` of`;
    throw new HoldfastError(
      'plugin.invalid',
      `Cannot use the ${subject.type} \`${subject.name}\`: ${place} \`${makeVisible(key).slice(0, 200)}\` contains the invisible character ${character}, which models read and people cannot see.`,
      { data: { reason: 'text.hidden', [subject.type]: subject.name, definition: makeVisible(key), field } },
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

/** One declaration of a plugin. */
export interface NamedDefinition {
  /** Kind and name, `tool:push`. */
  readonly key: string;
  /** Its fields; missing ones are absent. */
  readonly fields: JsonObject;
}

// More than anyone nests, and a limit for cycles.
const maxSectionDepth = 16;

/** All declarations of a plugin, without the contributions of `setup` and folders. */
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

/** The lists are unchecked. */
function each<Item, Described>(
  kind: string,
  list: readonly Item[],
  toDescribed: (item: Item) => Described,
): readonly Described[] {
  return list.map((item, index) => {
    try {
      return toDescribed(item);
    } catch (cause) {
      const message = `item ${index + 1} of its \`${kind}\`: ${describeThrown(cause)}`;
      throw new HoldfastError('plugin.invalid', message, { data: { reason: 'definition' }, cause });
    }
  });
}

/** The declarations of a pack. Each preset is a field. */
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
  if (problem !== undefined)
    throw new HoldfastError('plugin.invalid', problem.message, { data: { reason: 'definition' } });
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

function policyOf({ name, mentions }: Policy): Fields {
  return { name, tools: mentions };
}

/** A section, its tools and its subsections. Its policies are part of its own description, because two sections may share them. */
function describeSection(section: Section, above: readonly string[]): readonly NamedDefinition[] {
  const path = [...above, section.key];
  if (path.length > maxSectionDepth) {
    throw new HoldfastError('plugin.invalid', `sections are nested more than ${maxSectionDepth} levels deep`, {
      data: { reason: 'definition' },
    });
  }
  const { title, template, summary, visibility, params, defaults, enabled } = section;
  const { tools, policies, slices, taskExamples, acceptsOverrides, children } = section;
  const own = named('section', path.join('.'), {
    title,
    template,
    summary,
    visibility: typeof visibility === 'function' ? 'rule' : visibility,
    conditional: enabled === undefined ? undefined : true,
    // A host passes these, and they need not be JSON.
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
  if (typeof name !== 'string')
    throw new HoldfastError('plugin.invalid', `a ${kind} without a name`, { data: { reason: 'definition' } });
  const key = `${kind}:${name}`;
  const said = Object.entries(fields).flatMap(([field, value]): [string, Json][] => {
    if (value === undefined) return [];
    const copied = copyJson(value);
    if (copied.ok) return [[field, copied.value]];
    throw new HoldfastError('plugin.invalid', `\`${field}\` of \`${key}\` is not JSON: ${copied.problem}`, {
      data: { reason: 'definition' },
    });
  });
  return { key, fields: Object.fromEntries(said) };
}

function jsonSchemaOf(schema: Schema | undefined): JsonObject | undefined {
  return schema === undefined ? undefined : asSent(compileSchema(schema).jsonSchema);
}

/** As sent to a model, without undefined members. */
function asSent(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** Each value, or a placeholder if it is not JSON, such as a date. */
function toPrintable(values: Fields): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const copied = copyJson(value);
      return [key, copied.ok ? copied.value : '(not JSON)'];
    }),
  );
}
