import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { PlannerTool } from '@holdfast/core/types';
import { objectAt, type Parameter, resolve, typeOf } from './words/parameters.ts';
import { stemsOf } from './words/words.ts';

/** A step of the plan being built. */
export interface Step {
  readonly id: number;
  readonly tool: PlannerTool;
  readonly inputs: JsonObject;
  /** The steps that must end before it starts. */
  readonly after: readonly number[];
  readonly purpose: string;
}

/**
 * Resolves an argument to a part of an earlier result: the member with the argument's name, the member that the request
 * names (`said`), the whole result if it fits, or the only other member of the right type. `undefined` if ambiguous.
 */
export function referTo(
  { name, kind, schema }: Parameter,
  { id, tool, inputs }: Step,
  said: ReadonlySet<string>,
): Json | undefined {
  const { outputSchema } = tool;
  // Without a schema the type is unknown; a text argument gets the result's text.
  if (outputSchema === undefined) return kind === 'text' || kind === 'name' ? `{{STEPS.${id}}}` : undefined;
  const root = resolve(outputSchema, outputSchema);
  const members = membersOf(outputSchema);
  const isWanted = (given: JsonObject): boolean =>
    typeOf(given) === typeOf(schema) || (typeOf(schema) === 'number' && typeOf(given) === 'integer');
  const fitting = members.filter((member) => isWanted(member.schema));
  const only = (some: typeof members): string | undefined => (some.length === 1 ? some[0]?.name : undefined);
  const required: unknown = schema['required'];
  const hasAll = Array.isArray(required) && required.every((each) => members.some((member) => member.name === each));
  const path =
    fitting.find((member) => member.name === name)?.name ??
    only(fitting.filter((member) => stemsOf(member.name).some((stem) => said.has(stem)))) ??
    (typeOf(schema) === typeOf(root) && (typeOf(root) !== 'object' || hasAll) ? '' : undefined) ??
    only(
      fitting.filter(
        (member) => kind === 'text' && /^(?:text|content|report|summary|result|output)$/u.test(member.name),
      ),
    ) ??
    only(fitting.filter((member) => !Object.hasOwn(inputs, member.name)));
  return path === undefined ? undefined : path === '' ? { $from: id } : { $from: id, path };
}

/** The members of a result by its schema, except those that a path cannot name. */
export function membersOf(outputSchema: JsonObject): readonly { readonly name: string; readonly schema: JsonObject }[] {
  const properties = Object.entries(objectAt(resolve(outputSchema, outputSchema), 'properties') ?? {});
  return properties.flatMap(([name, declared]) =>
    /^[a-z][\w-]*$/iu.test(name) && isPlainObject(declared)
      ? [{ name, schema: resolve(outputSchema, declared as JsonObject) }]
      : [],
  );
}

/** The steps that inputs refer to. */
export function stepsIn(input: Json): readonly number[] {
  if (Array.isArray(input)) return (input as readonly Json[]).flatMap(stepsIn);
  if (typeof input === 'string') return [...input.matchAll(/^\{\{STEPS\.(\d+)\}\}$/gu)].map(([, id]) => Number(id));
  if (!isPlainObject(input)) return [];
  const { $from: from } = input;
  return typeof from === 'number' ? [from] : Object.values(input as JsonObject).flatMap(stepsIn);
}
