import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import type { Finding } from '../text/diagnostic.ts';
import { listSubschemas, walkSchema } from './keywords.ts';

/** Why a `$ref` cannot be followed inside `root`; `undefined` when it can, or when there is none. */
export function findUnknownReference(reference: Json | undefined, root: JsonObject): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== 'string') return '`$ref` must be a text.';
  if (!reference.startsWith('#')) return `\`$ref\` \`${reference}\` points outside the file; nothing is ever fetched.`;
  return isPlainObject(resolveReference(reference, root))
    ? undefined
    : `\`$ref\` \`${reference}\` names nothing in this schema.`;
}

// One value is checked against no more schemas than a literal can hold, and not through more references than a stack bears.
const maxSchemas = 20_000;
const maxChain = 100;

/**
 * The first `$ref` of `root` by which checking one value never ends, or takes for ever: it comes back to its own schema without a
 * step into a value, is the last of a long chain, or stands for thousands of schemas because references multiply.
 */
export function findReferenceProblem(root: JsonObject): Pick<Finding, 'message' | 'hint'> | undefined {
  /** Schemas that a value is checked against by each that has been looked through. */
  const costs = new Map<Json, number>();
  let problem: Pick<Finding, 'message' | 'hint'> | undefined;

  function costOf(schema: Json, open: Set<Json>): number {
    if (!isPlainObject(schema) || problem !== undefined) return 1;
    const known = costs.get(schema as JsonObject);
    if (known !== undefined) return known;
    open.add(schema as JsonObject);
    let cost = 1;
    const { $ref: reference } = schema;
    const target = typeof reference === 'string' ? resolveReference(reference, root) : undefined;
    if (target !== undefined) {
      const name = `\`$ref\` \`${String(reference)}\``;
      if (open.has(target))
        problem ??= {
          message: `${name} leads back to itself before it reaches any value.`,
          hint: 'Let a reference to itself stand under `properties` or `items`.',
        };
      else if (open.size > maxChain)
        problem ??= {
          message: `${name} comes at the end of more than ${maxChain} schemas, each within the one before.`,
          hint: 'Refer to the schema that is meant.',
        };
      else cost += costOf(target, open);
    }
    for (const { schema: inner, role } of listSubschemas(schema as JsonObject))
      if (role === 'branch' || role === 'condition') cost += costOf(inner, open);
    if (cost > maxSchemas)
      problem ??= {
        message: `${reference === undefined ? 'A schema' : `\`$ref\` \`${String(reference)}\``} makes one value be checked against more than ${maxSchemas} schemas: references multiply.`,
        hint: 'Refer to each schema once.',
      };
    open.delete(schema as JsonObject);
    costs.set(schema as JsonObject, cost);
    return cost;
  }

  for (const [schema] of walkSchema(root)) costOf(schema, new Set());
  return problem;
}

function resolveReference(reference: string, root: JsonObject): Json | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let node: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodePart(part);
    if (key === undefined || typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Object.getOwnPropertyDescriptor(node, key)?.value;
  }
  return node;
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // A stray `%`: such a reference names nothing.
    return undefined;
  }
}
