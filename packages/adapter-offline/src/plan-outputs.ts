import { isPlainObject, type Json, type JsonObject, type PlannerTool } from '@holdfast/core';
import { conceptsOf } from './concepts.ts';
import { objectAt, resolve } from './parameters.ts';
import type { Profile } from './toolbox.ts';
import { splitName, stemOf } from './words.ts';

export type Path = readonly (string | number)[];

/** One value in what a tool gives. */
export interface Field {
  readonly path: Path;
  /** `unknown`: the schema does not say. */
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'unknown';
  /** Stems of the words of its name; empty for the whole result. */
  readonly stems: readonly string[];
  readonly schema: JsonObject;
}

/** What can be taken from a tool's result. */
export interface Outputs {
  readonly whole: Field;
  /** Members of the result, and members of those that are objects. */
  readonly fields: readonly Field[];
  /** Members of the first item of a list in the result. */
  readonly first: readonly Field[];
}

const maxFields = 200;

/** Reads an output schema. A tool without one gives a whole of unknown type, and no fields. */
export function readOutputs({ outputSchema }: PlannerTool): Outputs {
  const root = outputSchema ?? {};
  const whole = toField(root, root, []);
  const fields = membersOf(root, whole, 2);
  const lists = [whole, ...fields].filter(({ type }) => type === 'array');
  const first = lists.flatMap((list) => {
    const items = objectAt(list.schema, 'items');
    if (items === undefined) return [];
    const item = toField(root, items, [...list.path, 0]);
    return [item, ...membersOf(root, item, 1)];
  });
  return { whole, fields, first };
}

function membersOf(root: JsonObject, { schema, path, type }: Field, depth: number): readonly Field[] {
  if (type !== 'object' || depth === 0) return [];
  return Object.entries(objectAt(schema, 'properties') ?? {})
    .slice(0, maxFields)
    .flatMap(([name, value]) => {
      // No path leads to this key.
      if (name === '__proto__' || !isPlainObject(value)) return [];
      const field = toField(root, value as JsonObject, [...path, name]);
      return [field, ...membersOf(root, field, depth - 1)];
    });
}

function toField(root: JsonObject, declared: JsonObject, path: Path): Field {
  const schema = resolve(root, declared);
  const name = path.findLast((step) => typeof step === 'string');
  const stems = typeof path.at(-1) === 'string' && name !== undefined ? splitName(name).map(stemOf) : [];
  return { path, type: typeOf(schema), stems, schema };
}

function typeOf(schema: JsonObject): Field['type'] {
  const declared = Object.hasOwn(schema, 'type') ? schema['type'] : undefined;
  const types = (Array.isArray(declared) ? (declared as readonly Json[]) : [declared]).filter(
    (each) => each !== 'null',
  );
  const [type] = types;
  if (types.length !== 1) return 'unknown';
  switch (type) {
    case 'string':
    case 'boolean':
    case 'array':
    case 'object':
    case 'number':
      return type;
    case 'integer':
      return 'number';
    default:
      return Object.hasOwn(schema, 'properties') ? 'object' : 'unknown';
  }
}

const bodies: ReadonlySet<string> = new Set(
  'text content contents body markdown html report document response output answer result value'.split(' ').map(stemOf),
);

/** What a result is all about: its only member, its text, or what is called like the tool's work, as the `summary` of a summary. */
export function mainField({ fields }: Outputs, profile: Profile): Field | undefined {
  const outer = fields.filter(({ path }) => path.length === 1);
  if (outer.length === 1) return outer[0];
  const named = outer.filter(({ stems }) => stems.length === 1 && isWorkOf(stems[0] ?? '', profile));
  if (named.length === 1) return named[0];
  const texts = outer.filter(({ stems, type }) => type === 'string' && bodies.has(stems.at(-1) ?? ''));
  return texts.length === 1 ? texts[0] : undefined;
}

/** Whether a noun names what a tool does: "comparison" for a tool that compares. */
export function isWorkOf(noun: string, { actionStems, actionConcepts }: Profile): boolean {
  if (actionStems.has(noun)) return true;
  for (const action of actionStems) if (isNounOf(noun, action)) return true;
  // "Statistics" are counted and summarized, but a "list" is not only what is listed.
  for (const concept of conceptsOf(noun))
    if (/^(?:summarize|count|translate|compare)$/u.test(concept) && actionConcepts.has(concept)) return true;
  return false;
}

/** "Comparison" of "compare", "translation" of "translate", "conversion" of "convert": the words begin alike. */
function isNounOf(noun: string, action: string): boolean {
  let same = 0;
  while (same < action.length && noun[same] === action[same]) same += 1;
  return same >= 5 && same >= action.length - 2 && /(?:ion|ison|i|sis|ment|ing|er|or|nc)$/u.test(noun);
}
