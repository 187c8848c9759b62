import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@holdfast/core';
import { compileJsonSchema, type SchemaIssue } from '@holdfast/schema/json';
import { expect } from 'vitest';

export async function readSchema(name: string): Promise<JsonObject> {
  return JSON.parse(await readFile(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8'));
}

/** Why `value` is not as `schema` says, with keys that it does not declare, so that a new field cannot be forgotten there. */
export function findIssues(schema: JsonObject, value: unknown): readonly SchemaIssue[] {
  const checked = compileJsonSchema({ schema }).validate(value);
  return checked.ok ? [] : checked.issues;
}

/** Each line against the schema as a whole and, for its keys, against the one of its type. Answers the types. */
export async function checkLines(name: string, lines: string): Promise<ReadonlySet<string>> {
  const schema = await readSchema(name);
  const types = new Set<string>();
  for (const line of lines.trimEnd().split('\n')) {
    const value = JSON.parse(line);
    expect({ line, issues: findIssues(schema, value) }).toEqual({ line, issues: [] });
    const own = { $ref: `#/$defs/${value.type}`, $defs: schema['$defs'] ?? {} };
    expect({ line, issues: findIssues(own, value) }).toEqual({ line, issues: [] });
    types.add(value.type);
  }
  return types;
}
