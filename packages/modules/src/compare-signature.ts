import { isPlainObject, type JsonObject } from '@holdfast/core';
import { resolvePointer } from '@holdfast/schema';
import type { ExtraNames } from './extra-fields.ts';
import type { ModuleField, ModuleSignature } from './module-definition.ts';
import { type FileProblem, problemAt } from './module-problem.ts';
import type { Signature, SignatureField } from './signature.ts';

/**
 * How what a file declares differs from the signature that is registered: names with their order and side are errors, and so are types.
 * A `field_type` that is no type of JSON Schema is not compared, which is said as a warning; `json` stands for any. Descriptions are for
 * people. A file may declare what the predictor adds by itself.
 */
export function compareSignature(
  declared: ModuleSignature,
  signature: Signature,
  extra: ExtraNames,
): readonly FileProblem[] {
  return (['inputs', 'outputs'] as const).flatMap((side) => {
    const fields = signature[side];
    const place = `signature.${side}`;
    const isExtra = ({ name }: ModuleField): boolean =>
      extra[side].includes(name) && !fields.some((field) => field.name === name);
    const places = declared[side].map((field, index) => ({ field, typePlace: `${place}[${index}].field_type` }));
    const own = places.filter(({ field }) => !isExtra(field));
    const isSame = own.length === fields.length && own.every(({ field }, index) => field.name === fields[index]?.name);
    if (!isSame) {
      const message = `The file has ${listNames(declared[side])}; \`${signature.name}\` has ${listNames(fields)}, in this order.`;
      return [{ ...problemAt(place, mismatchCode, message), severity: 'error' as const }];
    }
    return fields.flatMap((field, index) => {
      const { field: written, typePlace } = own[index] ?? {};
      const type = written?.field_type;
      return type === undefined || typePlace === undefined ? [] : compareType(type, field, typePlace);
    });
  });
}

function compareType(type: string, field: SignatureField, place: string): readonly FileProblem[] {
  const shown = `\`${type.slice(0, 100)}\``;
  if (type === 'json') return [];
  if (!jsonTypes.has(type)) {
    const message = `${shown} is no type of JSON Schema, so it is not compared; use one of ${[...jsonTypes].join(', ')}.`;
    return [{ ...problemAt(place, 'modules.field_type_unknown', message), severity: 'warning' }];
  }
  const types = typesOf(field.schema, field.schema);
  if (types === undefined || types.has(type)) return [];
  const message = `\`${field.name}\` is ${shown} here; the signature has \`${[...types].join(' | ')}\`.`;
  return [{ ...problemAt(place, mismatchCode, message), severity: 'error' }];
}

const mismatchCode = 'modules.signature_mismatch';
const jsonTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** `undefined`: any. */
function typesOf(schema: unknown, root: JsonObject, depth = 0): ReadonlySet<string> | undefined {
  if (!isPlainObject(schema) || depth > 16) return undefined;
  const { type, const: constant, enum: values, anyOf, oneOf, $ref: reference } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === 'string'));
  if (constant !== undefined) return new Set(namesOf(constant));
  if (Array.isArray(values)) return new Set(values.flatMap(namesOf));
  if (typeof reference === 'string') return typesOf(resolvePointer(root, reference), root, depth + 1);
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return undefined;
  const found = new Set<string>();
  for (const branch of branches) {
    const types = typesOf(branch, root, depth + 1);
    if (types === undefined) return undefined;
    for (const one of types) found.add(one);
  }
  return found;
}

function namesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

function listNames(fields: readonly { readonly name: string }[]): string {
  if (fields.length === 0) return 'no fields';
  const names = fields.slice(0, maxNames).map(({ name }) => `\`${name.slice(0, 64)}\``);
  return `${names.join(', ')}${fields.length > maxNames ? ` and ${fields.length - maxNames} more` : ''}`;
}

const maxNames = 40;
