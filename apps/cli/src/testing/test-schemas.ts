import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@holdfast/core';
import { compileJsonSchema, type SchemaIssue } from '@holdfast/schema/json';
import { expect } from 'vitest';

export async function readSchema(name: string): Promise<JsonObject> {
  return JSON.parse(await readFile(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8'));
}

/** Why `value` does not match `schema`; undeclared keys count too, so that no new field is forgotten in the schema. */
export function findIssues(schema: JsonObject, value: unknown): readonly SchemaIssue[] {
  const checked = compileJsonSchema({ schema }).validate(value);
  return checked.ok ? [] : checked.issues;
}

/** Checks each line against the whole schema and, for its keys, against the definition of its type. Returns the types. */
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
