import { describeThrown, HoldfastError, isPack, type Pack, type Plugin } from '@holdfast/core';
import { describePack, describePlugin, type NamedDefinition } from './describe-plugin.ts';
import { findHiddenCharacter, makeVisible } from './hidden-text.ts';
import {
  isPluginId,
  type LockedDefinitions,
  readLockedDefinitions,
  toLockedDefinitionsJson,
} from './locked-definitions.ts';

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
