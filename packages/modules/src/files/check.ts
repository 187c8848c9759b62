import { isHoldfastError, type JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { resolvePointer } from '@holdfast/schema/internal';
import { createTextPrograms } from '../react/step.ts';
import { findDemoProblems } from '../signature/demos.ts';
import { cutProblems, type FileProblem, problemAt, problemOf } from '../signature/problems.ts';
import {
  type ExtraNames,
  extraNamesOf,
  extraNamesOfDemos,
  extraNamesOfExtraction,
  type Program,
  toProgram,
} from '../signature/program.ts';
import type { Signature, SignatureField } from '../signature/signature.ts';
import type { ModuleDefinition, ModuleField, ModuleSignature } from './definition.ts';

/** A module with its signature, and all mismatches between them. */
export interface CheckedModule {
  /** Absent after an error. */
  readonly program: Program | undefined;
  readonly problems: readonly FileProblem[];
}

export function checkModule(definition: ModuleDefinition, signatures: ReadonlyMap<string, Signature>): CheckedModule {
  const { signature_name: name } = definition;
  const signature = signatures.get(name);
  if (signature === undefined) return { program: undefined, problems: [signatureNotFound(name, signatures)] };
  const found = findProblems(definition, signature);
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  const problems = cutProblems([...errors, ...warnings]);
  if (errors.length > 0) return { program: undefined, problems };
  try {
    const program = toProgram(signature, definition.predictor_type, definition);
    // The fields of a step may collide with those of the signature.
    if (definition.tool_protocol === 'text') {
      const { lists_tools: listsTools = false, extract = {} } = definition;
      createTextPrograms(signature, { ...definition, listsTools, extract });
    }
    return { program, problems };
  } catch (thrown) {
    // The fields that the predictor adds collide with those of the signature.
    if (!isHoldfastError(thrown)) throw thrown;
    const problem: FileProblem = { ...problemOf(thrown, 'predictor_type'), severity: 'error' };
    return { program: undefined, problems: [...problems, problem] };
  }
}

function findProblems(definition: ModuleDefinition, signature: Signature): readonly FileProblem[] {
  const { signature: declared, demos, descriptions, extract } = definition;
  const extra = extraNamesOf(definition.predictor_type);
  const extraOfDemos = extraNamesOfDemos(definition.predictor_type, definition.tool_enabled);
  const ofExtraction = { signature, extra: extraNamesOfExtraction };
  return [
    ...(declared === undefined ? [] : compareSignature(declared, signature, extraOfDemos)),
    ...findUnknownDescriptions(descriptions, { signature, extra, below: '' }),
    ...findDemoProblems(demos, { signature, extra: extraOfDemos, below: 'demos' }),
    ...findUnknownDescriptions(extract?.descriptions, { ...ofExtraction, below: 'extract.' }),
    ...findDemoProblems(extract?.demos ?? [], { ...ofExtraction, below: 'extract.demos' }),
  ];
}

function signatureNotFound(name: string, signatures: ReadonlyMap<string, Signature>): FileProblem {
  const known = [...signatures.keys()].slice(0, 20).map((one) => `\`${one}\``);
  const registered = known.length === 0 ? 'None are registered' : `Registered signatures: ${known.join(', ')}`;
  const message = `The signature \`${name}\` is not registered. ${registered}.`;
  return { ...problemAt('signature_name', 'signature_not_found', message), severity: 'error' };
}

function findUnknownDescriptions(
  descriptions: Readonly<Record<string, string>> | undefined,
  { signature, extra, below }: { readonly signature: Signature; readonly extra: ExtraNames; readonly below: string },
): readonly FileProblem[] {
  const fields = [...signature.inputs, ...signature.outputs].map(({ name }) => name);
  const known = new Set([...fields, ...extra.inputs, ...extra.outputs]);
  const unknown = Object.keys(descriptions ?? {}).filter((name) => !known.has(name));
  return unknown.map((name) => {
    const place = `${below}descriptions.${name.slice(0, 100)}`;
    const message = `\`${signature.name}\` has no such field. Known fields: ${[...known].map((one) => `\`${one}\``).join(', ')}.`;
    return { ...problemAt(place, 'description_unknown', message), severity: 'error' };
  });
}

/**
 * Compares the declared signature with the registered one. Different names, order, sides or types are errors. A `field_type` that is not a
 * JSON Schema type is not compared and gives a warning; `json` matches any type. Descriptions may differ. A file may also declare the
 * fields that the predictor adds.
 */
function compareSignature(declared: ModuleSignature, signature: Signature, extra: ExtraNames): readonly FileProblem[] {
  return (['inputs', 'outputs'] as const).flatMap((side) => {
    const fields = signature[side];
    const place = `signature.${side}`;
    const isExtra = ({ name }: ModuleField): boolean =>
      extra[side].includes(name) && !fields.some((field) => field.name === name);
    const places = declared[side].map((field, index) => ({ field, typePlace: `${place}[${index}].field_type` }));
    const own = places.filter(({ field }) => !isExtra(field));
    const isSame = own.length === fields.length && own.every(({ field }, index) => field.name === fields[index]?.name);
    if (!isSame) {
      const message = `The file declares ${listNames(declared[side])}; \`${signature.name}\` has ${listNames(fields)}, in this order.`;
      return [{ ...problemAt(place, 'signature_mismatch', message), severity: 'error' as const }];
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
    const message = `${shown} is not a JSON Schema type, so it is not compared. Use one of ${[...jsonTypes].join(', ')}.`;
    return [{ ...problemAt(place, 'field_type_unknown', message), severity: 'warning' }];
  }
  const types = typesOf(field.schema, field.schema);
  if (types === undefined || types.has(type)) return [];
  const message = `The file declares \`${field.name}\` as ${shown}; the signature has \`${[...types].join(' | ')}\`.`;
  return [{ ...problemAt(place, 'signature_mismatch', message), severity: 'error' }];
}

const jsonTypes: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);

/** `undefined`: any type. */
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
