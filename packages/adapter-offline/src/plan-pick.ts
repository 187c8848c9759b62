import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { conceptsOf, shareConcept } from './concepts.ts';
import type { Parameter } from './parameters.ts';
import type { Input, Taken } from './plan-inputs.ts';
import { type Field, mainField } from './plan-outputs.ts';
import { isStored, type Source } from './plan-step.ts';
import { type Role, roleOf } from './roles.ts';
import type { Profile } from './toolbox.ts';

/** What an input of a tool wants. */
export interface Want {
  readonly parameter: Parameter;
  readonly role: Role;
  readonly profile: Profile;
}

export type Picked =
  | { readonly type: 'picked'; readonly input: Input; readonly isNamed: boolean }
  /** `why` is a clause. */
  | { readonly type: 'none'; readonly why: string };

/** What of a source an input takes: by name, by what it is for, or because there is nothing else that it could be. Never a guess. */
export function pickInput(want: Want, source: Source): Picked {
  const { parameter } = want;
  const { step } = source;
  const { outputs } = step;
  const name = parameter.path.join('.');
  if (source.field !== undefined) {
    return fitsType(want, source.field)
      ? picked(want, { from: step.id, field: source.field }, true)
      : none(
          `\`${source.field.path.join('.')}\` of \`${step.profile.tool.name}\` is no value for it${listHint(source.field)}`,
        );
  }
  if (source.isFirst) return pickFirst(want, source);
  // What a step only looked at is still where it was said to be.
  const said = isPlace(want) && !step.isChanging ? sameLiteral(want, source) : undefined;
  if (said !== undefined) return { type: 'picked', input: { type: 'literal', value: said }, isNamed: true };
  if (outputs.fields.length === 0) return pickWhole(want, source);
  // What takes an object takes all that was given.
  if (parameter.type === 'other' && !parameter.isList && fitsType(want, outputs.whole))
    return picked(want, { from: step.id, field: outputs.whole }, false);
  const rated = outputs.fields
    .filter((field) => fitsType(want, field))
    .map((field) => ({ field, score: scoreOf(want, field) }))
    .sort((left, right) => right.score - left.score);
  const [best, second] = rated;
  if (best !== undefined && best.score >= 3 && best.score > (second?.score ?? 0))
    return picked(want, { from: step.id, field: best.field }, true);
  const main = mainField(outputs, step.profile);
  if (main !== undefined && !isPlace(want) && fitsType(want, main))
    return picked(want, { from: step.id, field: main }, false);
  if (best !== undefined && second === undefined && !isPlace(want))
    return picked(want, { from: step.id, field: best.field }, false);
  const literal = isPlace(want) ? sameLiteral(want, source) : undefined;
  if (literal !== undefined) return { type: 'picked', input: { type: 'literal', value: literal }, isNamed: true };
  if (isText(want) && digests(want.profile)) return picked(want, { from: step.id, field: outputs.whole }, false);
  const some = rated.map(({ field }) => `\`${field.path.join('.')}\``).slice(0, 6);
  return none(
    some.length > 1
      ? `\`${step.profile.tool.name}\` gives ${some.join(' and ')}, and it is not said which of them is \`${name}\``
      : `\`${step.profile.tool.name}\` gives nothing that is a \`${name}\`${outputs.fields.map(listHint).find((hint) => hint !== '') ?? ''}`,
  );
}

/** Of a result that nothing is known about, or that is no object: all of it, where that can be meant. */
function pickWhole(want: Want, source: Source): Picked {
  const { step } = source;
  const { whole } = step.outputs;
  const literal = isPlace(want) ? sameLiteral(want, source) : undefined;
  if (literal !== undefined) return { type: 'picked', input: { type: 'literal', value: literal }, isNamed: true };
  if (!fitsType(want, whole) && !(isText(want) && digests(want.profile)))
    return none(`what \`${step.profile.tool.name}\` gives is of another type${listHint(whole)}`);
  if (isPlace(want) && !isOneText(source))
    return none(
      `it is not known what of the result of \`${step.profile.tool.name}\` is a \`${want.parameter.path.join('.')}\``,
    );
  return picked(want, { from: step.id, field: whole }, false);
}

function isOneText({ step: { outputs } }: Source): boolean {
  return outputs.whole.type === 'string';
}

/** "The first result": a member of the first item of the only list. */
function pickFirst(want: Want, { step }: Source): Picked {
  const { first, whole, fields } = step.outputs;
  const items = first.filter((field) => typeof field.path.at(-1) === 'number');
  const [item] = items;
  if (
    items.length !== 1 ||
    item === undefined ||
    [whole, ...fields].filter(({ type }) => type === 'array').length !== 1
  )
    return none(`it is not known where \`${step.profile.tool.name}\` has its first result`);
  const members = first.filter((field) => field !== item && fitsType(want, field));
  const rated = members.map((field) => ({ field, score: scoreOf(want, field) })).sort((a, b) => b.score - a.score);
  const [best, second] = rated;
  if (best !== undefined && best.score >= 3 && best.score > (second?.score ?? 0))
    return picked(want, { from: step.id, field: best.field }, true);
  if (item.type !== 'object' && fitsType(want, item)) return picked(want, { from: step.id, field: item }, false);
  if (members.length === 1 && best !== undefined && !isPlace(want))
    return picked(want, { from: step.id, field: best.field }, false);
  if (isText(want) && digests(want.profile)) return picked(want, { from: step.id, field: item }, false);
  return none(
    `the first result of \`${step.profile.tool.name}\` has nothing that is surely the \`${want.parameter.path.join('.')}\``,
  );
}

/** Roles of texts that stand for one thing of the world: any other text would be a wrong one. */
const places: ReadonlySet<Role> = new Set(['path', 'glob', 'url', 'email', 'date', 'person', 'place', 'id', 'ending']);

function isPlace({ parameter, role }: Want): boolean {
  return parameter.type === 'string' && places.has(role);
}

function sameLiteral({ parameter, role }: Want, { step: { profile, literals } }: Source): Json | undefined {
  const [same] = literals
    .filter(([, value]) => typeof value === parameter.type && !(isFolder(parameter) && /\.\w+$/u.test(String(value))))
    .filter(([name]) => {
      const other = profile.parameters.find(({ path }) => path.join('.') === name);
      return other !== undefined && profile.roles.get(other) === role;
    });
  return same?.[1];
}

function isFolder({ nameStems }: Parameter): boolean {
  return nameStems.some((stem) => /^(?:folder|directori|dir)$/u.test(stem));
}

function scoreOf({ parameter, role, profile }: Want, field: Field): number {
  const [name, own] = [field.stems.join(' '), parameter.nameStems.join(' ')];
  if (name !== '' && name === own) return 8 - field.path.length * 0.1;
  const last = field.stems.at(-1) ?? '';
  const asParameter: Parameter = {
    ...parameter,
    path: [String(field.path.at(-1) ?? '')],
    nameStems: field.stems,
    description: '',
    descriptionStems: [],
    format: formatOf(field),
  };
  const sameRole = role !== 'neutral' && roleOf(asParameter, new Set()) === role ? 4 : 0;
  const things = (stem: string): ReadonlySet<string> =>
    new Set([...conceptsOf(stem)].filter((concept) => concept.endsWith('(thing)')));
  const alike = last !== '' && shareConcept(things(last), things(parameter.nameStems.at(-1) ?? '')) ? 3 : 0;
  const ending = last !== '' && last === parameter.nameStems.at(-1) ? 4 : 0;
  const ofTool = last !== '' && profile.objectStems.includes(last) ? 3 : 0;
  const score = Math.max(sameRole, alike, ending) + ofTool;
  return score === 0 ? 0 : score - field.path.length * 0.1;
}

function formatOf({ schema }: Field): string | undefined {
  const format = Object.hasOwn(schema, 'format') ? schema['format'] : undefined;
  return typeof format === 'string' ? format : undefined;
}

/** A text may take numbers, too: they are written out. Lists and objects only where a text is made of everything. */
function fitsType({ parameter, profile, role }: Want, field: Field): boolean {
  // One of a few values is what is called the same, and nothing else.
  if (parameter.choices.length > 0 && field.stems.join(' ') !== parameter.nameStems.join(' ')) return false;
  const format = formatOf(field);
  if (format !== undefined && parameter.format !== undefined && format !== parameter.format) return false;
  if (parameter.isList) return field.type === 'array' || field.type === 'unknown';
  if (field.type === 'unknown') return true;
  switch (parameter.type) {
    case 'string':
      if (field.type === 'array' || field.type === 'object') return digests(profile) && !places.has(role);
      return (
        field.type === 'string' ||
        (field.type === 'number' && !places.has(role)) ||
        (field.type === 'boolean' && digests(profile))
      );
    case 'integer':
    case 'number':
      return field.type === 'number';
    case 'boolean':
      return field.type === 'boolean';
    case 'other':
      return field.type === 'object' && hasRequired(parameter, field);
    default:
      return parameter.type satisfies never;
  }
}

function hasRequired({ schema }: Parameter, field: Field): boolean {
  const required: unknown = Object.hasOwn(schema, 'required') ? schema['required'] : [];
  const known = isPlainObject(field.schema['properties']) ? (field.schema['properties'] as JsonObject) : undefined;
  return (
    known === undefined ||
    !Array.isArray(required) ||
    required.every((name) => typeof name === 'string' && Object.hasOwn(known, name))
  );
}

function isText({ parameter, role }: Want): boolean {
  return (
    parameter.type === 'string' &&
    !parameter.isList &&
    parameter.choices.length === 0 &&
    parameter.format === undefined &&
    !places.has(role)
  );
}

/** Tools that make something of whatever they are given as text: what is stored, sent, summarized. */
function digests(profile: Profile): boolean {
  return isStored({ profile }) || profile.actionConcepts.has('summarize') || profile.actionConcepts.has('translate');
}

function picked({ parameter }: Want, taken: Taken, isNamed: boolean): Picked {
  // A reference alone keeps its type, and a text takes only texts.
  const asText = parameter.type === 'string' && !parameter.isList && taken.field.type !== 'string';
  const input: Input = asText ? { type: 'text', parts: [taken] } : { type: 'taken', taken };
  return { type: 'picked', input, isNamed };
}

function none(why: string): Picked {
  return { type: 'none', why };
}

function listHint({ type }: Field): string {
  return type === 'array' ? '; it gives a list, and how long that is only turns out when the plan runs' : '';
}
