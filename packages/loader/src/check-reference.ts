import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';

/** Why a `$ref` cannot be followed inside `root`; `undefined` when it can, or when there is none. */
export function findUnknownReference(reference: Json | undefined, root: JsonObject): string | undefined {
  if (reference === undefined) return undefined;
  if (typeof reference !== 'string') return '`$ref` must be a text.';
  if (!reference.startsWith('#')) return `\`$ref\` \`${reference}\` points outside the file; nothing is ever fetched.`;
  return isPlainObject(resolveReference(reference, root))
    ? undefined
    : `\`$ref\` \`${reference}\` names nothing in this schema.`;
}

/** The first `$ref` of `root` that comes back to its own schema without a step into a value, so that checking never ends. */
export function findUnboundedReference(root: JsonObject): string | undefined {
  const done = new Set<Json>();
  function visit(schema: Json, open: readonly Json[]): string | undefined {
    if (!isPlainObject(schema) || done.has(schema)) return undefined;
    const { $ref: reference } = schema;
    const target = typeof reference === 'string' ? resolveReference(reference, root) : undefined;
    const path = [...open, schema as JsonObject];
    if (target !== undefined) {
      if (path.includes(target)) return String(reference);
      const found = visit(target, path);
      if (found !== undefined) return found;
    }
    for (const inner of sameValue(schema as JsonObject)) {
      const found = visit(inner, path);
      if (found !== undefined) return found;
    }
    done.add(schema as JsonObject);
    return undefined;
  }
  function everySchema(node: Json): string | undefined {
    if (typeof node !== 'object' || node === null) return undefined;
    const found = visit(node, []);
    if (found !== undefined) return found;
    for (const inner of Object.values(node)) {
      const deeper = everySchema(inner);
      if (deeper !== undefined) return deeper;
    }
    return undefined;
  }
  return everySchema(root);
}

function sameValue(schema: JsonObject): readonly Json[] {
  return ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].flatMap((key) => {
    const value = schema[key];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  });
}

function resolveReference(reference: string, root: JsonObject): Json | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let node: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodePart(part);
    if (key === undefined || typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Object.entries(node).find(([name]) => name === key)?.[1];
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
