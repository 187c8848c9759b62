import { HoldfastError, isPlainObject, type Schema } from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { describeType } from './tool-parameters.ts';

/** The parameters of one section. */
export interface SectionParams {
  readonly keys: readonly string[];
  /**
   * What the section's schema makes of its own keys among `bound`.
   *
   * @throws HoldfastError `prompt.param.missing`, `prompt.param.invalid`.
   */
  read(bound: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>>;
}

/** @throws HoldfastError `section.params.invalid` for what is not an object schema, and what `compileSchema` throws. */
export function compileParams(schema: Schema | undefined, path: string): SectionParams {
  if (schema === undefined) return none;
  const { jsonSchema, validate } = compileSchema(schema);
  const { properties } = jsonSchema;
  if (!isPlainObject(properties)) {
    throw new HoldfastError(
      'section.params.invalid',
      `\`params\` of section \`${path}\` must be an object schema with its keys as properties.`,
      { data: { section: path } },
    );
  }
  const types = new Map(Object.entries(properties).map(([key, property]) => [key, describeType(property)]));
  const required = Array.isArray(jsonSchema['required']) ? jsonSchema['required'] : [];
  return {
    keys: [...types.keys()],
    read(bound) {
      const missing = required.filter((key) => bound.get(key) === undefined);
      if (missing.length > 0) {
        const list = missing.map((key) => `\`${key}\` (${types.get(key) ?? 'any'})`).join(', ');
        throw new HoldfastError('prompt.param.missing', `Missing parameters of section \`${path}\`: bind ${list}.`, {
          data: { section: path, missing },
        });
      }
      const validation = validate(
        Object.fromEntries([...bound].filter(([key, value]) => types.has(key) && value !== undefined)),
      );
      if (!validation.ok) throw invalid(path, describeIssues(validation.issues));
      if (!isPlainObject(validation.value)) throw invalid(path, 'its schema makes no object of them');
      return Object.freeze(validation.value);
    },
  };
}

const none: SectionParams = { keys: [], read: () => Object.freeze({}) };

function invalid(path: string, reason: string): HoldfastError {
  return new HoldfastError('prompt.param.invalid', `The parameters of section \`${path}\` do not fit: ${reason}.`, {
    data: { section: path },
  });
}
