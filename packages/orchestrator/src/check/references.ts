import type { NodeId, Reference } from '../plan/types.ts';
import { formatPath } from '../plan/value-path.ts';
import { type Report, show } from '../plan/violations.ts';
import type { Hole } from './inputs.ts';
import { type JsonType, type Located, locate, typeOf, typesAt } from './schema-types.ts';
import type { ToolFacts } from './tool-facts.ts';

/**
 * Checks a reference against the output schema of the tool that returns the value, if it has one, and the input schema of the tool that
 * receives it. Anything unknown is left to the call. Reports `plan.invalid`, `plan.input.type`.
 * Returns true if a text stands for the value with its type.
 */
export function checkHole(
  { tree, alone, schema, place }: Hole,
  toolOf: (node: NodeId) => ToolFacts | undefined,
  report: Report,
): boolean {
  const expected = typesAt(schema);
  const keepsType = alone !== undefined && expected?.has('string') !== true;
  const references =
    tree.type === 'reference' ? [tree.reference] : tree.parts.filter((part) => typeof part !== 'string');
  for (const reference of references) {
    const located = locateReference(reference, toolOf);
    if (located?.type === 'missing') {
      if (reference.default !== undefined) continue;
      const message = `${describe(reference)} does not exist: by the output schema of its tool, ${located.problem}. Use another path or give a default.`;
      report.add('ref.path', place, message);
      continue;
    }
    if (expected === undefined || (tree.type === 'text' && !keepsType)) continue;
    const actual = located === undefined ? undefined : typesAt(located.place);
    if (actual !== undefined && isDisjoint(actual, expected)) {
      const message = `${describe(reference)} has the type ${list(actual)}; the tool expects ${list(expected)}.`;
      report.add('ref.type', place, message);
    }
    const { default: fallback } = reference;
    if (fallback !== undefined && !expected.has(typeOf(fallback))) {
      const message = `The default ${show(fallback)} has the type ${typeOf(fallback)}; the tool expects ${list(expected)}.`;
      report.add('ref.default', place, message);
    }
  }
  if (tree.type === 'text' && alone === undefined && expected?.has('string') === false) {
    report.add('plan.input.type', place, `This is a text; the tool expects ${list(expected)}.`);
  }
  return keepsType;
}

function locateReference(
  { from, path }: Reference,
  toolOf: (node: NodeId) => ToolFacts | undefined,
): Located | undefined {
  const output = toolOf(from)?.output?.jsonSchema;
  return output === undefined ? undefined : locate({ node: output, root: output }, path);
}

function describe({ from, path }: Reference): string {
  return path.length === 0 ? `The result of ${show(from)}` : `${show(formatPath(path))} of ${show(from)}`;
}

function isDisjoint(left: ReadonlySet<JsonType>, right: ReadonlySet<JsonType>): boolean {
  for (const type of left) if (right.has(type)) return false;
  return true;
}

function list(types: ReadonlySet<JsonType>): string {
  return [...types].join(' or ');
}
