import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { Finding } from '../text/diagnostic.ts';
import { listSubschemas, walkSchema } from './keywords.ts';

/** The reason why a `$ref` cannot be resolved in `root`; `undefined` if it can, or if there is none. */
export function findUnknownReference(reference: Json | undefined, root: JsonObject): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== 'string') return '`$ref` must be a string.';
  if (!reference.startsWith('#')) return `\`$ref\` \`${reference}\` points outside the file; nothing is fetched.`;
  return isPlainObject(resolveReference(reference, root))
    ? undefined
    : `\`$ref\` \`${reference}\` does not exist in this schema.`;
}

// Limits for the validation of one value: schemas, as a literal can hold at most, and chained references, to protect the stack.
const maxSchemas = 20_000;
const maxChain = 100;

/**
 * Finds a `$ref` of `root` that makes validation endless or extremely slow: it leads back to its own schema without
 * descending into the value, ends a very long chain, or multiplies into thousands of schemas.
 */
export function findReferenceProblem(root: JsonObject): Pick<Finding, 'message' | 'hint'> | undefined {
  /** The number of schemas that each visited schema applies to one value. */
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
          message: `${name} leads back to itself before it reaches a value.`,
          hint: 'Put a recursive reference under `properties` or `items`.',
        };
      else if (open.size > maxChain)
        problem ??= {
          message: `${name} is nested in more than ${maxChain} schemas for the same value.`,
          hint: 'Refer to the intended schema directly.',
        };
      else cost += costOf(target, open);
    }
    for (const { schema: inner, role } of listSubschemas(schema as JsonObject))
      if (role === 'branch' || role === 'condition') cost += costOf(inner, open);
    if (cost > maxSchemas)
      problem ??= {
        message: `${reference === undefined ? 'A schema' : `\`$ref\` \`${String(reference)}\``} applies more than ${maxSchemas} schemas to one value: references multiply.`,
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
    // A stray `%`: the reference is invalid.
    return undefined;
  }
}
