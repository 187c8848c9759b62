import type { Json, JsonObject } from '@holdfast/core';
import { copyJson, isPlainObject, type JsonLimits, parseJson } from '@holdfast/core/internal';
import { type ParsedInputs, parseInputs } from './input-tree.ts';
import { adviseOnNumber, isNodeId, type NodeId, nodeIdRule, type OnFail } from './types.ts';
import { joinKey } from './value-path.ts';
import { afterNodes, type Place, type Report, show } from './violations.ts';

/** The parts of a plan that could be read; the others are reported and `undefined`. */
export interface DraftPlan {
  readonly nodes: readonly DraftNode[];
  readonly final: NodeId | undefined;
}

/** The parts of a node that could be read. */
export interface DraftNode {
  readonly index: number;
  /** `nodes[3]`. */
  readonly path: string;
  readonly id: NodeId | undefined;
  readonly tool: string | undefined;
  readonly functionName: string | undefined;
  readonly inputs: ParsedInputs | undefined;
  readonly dependencies: readonly { readonly id: NodeId; readonly path: string }[];
  readonly retry: number;
  readonly timeout: number;
  readonly onFail: OnFail;
  readonly metadata: JsonObject;
}

/** The result of reading: a plan as far as readable, a declined request, or nothing. */
export type DraftReading =
  | { readonly type: 'plan'; readonly plan: DraftPlan }
  | { readonly type: 'declined'; readonly error: string }
  | { readonly type: 'unreadable' };

/** Collectors of violations and warnings. */
export interface Reports {
  readonly violations: Report;
  readonly warnings: Report;
}

// 10,000 nodes of 1,000 characters each, with room to spare. No model writes and no tool accepts deeper nesting.
export const jsonLimits: Required<JsonLimits> = { maxDepth: 64, maxKeys: 2_000_000, maxLength: 33_554_432 };

const planKeys: ReadonlySet<string> = new Set(['version', 'status', 'nodes', 'final_output_node']);
const nodeKeys: ReadonlySet<string> = new Set([
  'id',
  'tool',
  'function',
  'inputs',
  'depends_on',
  'retry',
  'timeout',
  'on_fail',
  'metadata',
  'thought',
]);

/** Reads a plan from JSON text or a JSON value. */
export function readDraft(source: unknown, reports: Reports): DraftReading {
  const { violations } = reports;
  const taken = takeJson(source, violations);
  if (taken === undefined) return { type: 'unreadable' };
  if (!isPlainObject(taken.value)) {
    violations.add('plan.not_object', { path: '' }, `A plan must be an object, got ${show(taken.value)}.`);
    return { type: 'unreadable' };
  }
  const json = taken.value as JsonObject;
  const { status } = json;
  if (status === 'error') {
    const { error } = json;
    if (typeof error === 'string' && error.trim() !== '') return { type: 'declined', error };
    const message = `With \`status: "error"\`, \`error\` must be a text with the reason, got ${show(error)}.`;
    violations.add('error.missing', { path: 'error' }, message);
    return { type: 'unreadable' };
  }
  if (status !== undefined && status !== 'success') {
    const message = `\`status\` must be \`success\`, or \`error\` with an \`error\` text, got ${show(status)}.`;
    violations.add('status.unknown', { path: 'status' }, message);
  }
  const plan = readKeys(json, planKeys, { path: '' }, violations);
  const version = plan.get('version');
  if (version !== undefined && version !== 1) {
    const message = `\`version\` must be 1 or absent, got ${show(version)}. Later versions of the format are not supported.`;
    violations.add('version.unknown', { path: 'version' }, message);
  }
  return { type: 'plan', plan: { nodes: readNodes(plan, reports), final: readFinal(plan, violations) } };
}

function takeJson(source: unknown, report: Report): { readonly value: Json } | undefined {
  if (typeof source === 'string' && source.trim() === '') {
    report.add('json.invalid', { path: '' }, 'Cannot read a plan: the text is empty.');
    return undefined;
  }
  const taken =
    typeof source === 'string' ? parseJson(source, { ...jsonLimits, exact: true }) : copyJson(source, jsonLimits);
  if (taken.ok) {
    // A parsed value is our own and becomes part of the plan; a copied one is already frozen.
    return { value: taken.value };
  }
  const beyond = taken.reason === 'size' || taken.reason === 'depth';
  report.add(beyond ? 'json.limit' : 'json.invalid', { path: '' }, `Cannot read a plan: ${taken.problem}.`);
  return undefined;
}

/** The members of `json`. Keys that start with `_` are ignored. */
function readKeys(
  json: JsonObject,
  keys: ReadonlySet<string>,
  place: Place,
  report: Report,
): ReadonlyMap<string, Json> {
  const members = Object.entries(json).filter(([key]) => !key.startsWith('_'));
  for (const [key] of members) {
    if (keys.has(key)) continue;
    const known = [...keys].map((name) => `\`${name}\``).join(', ');
    const message = `Unknown key ${show(key)}. Known keys: ${known}.`;
    report.add('key.unknown', { ...place, path: joinKey(place.path, key) }, message);
  }
  return new Map(members);
}

function readNodes(plan: ReadonlyMap<string, Json>, reports: Reports): readonly DraftNode[] {
  const nodes = plan.has('nodes') ? plan.get('nodes') : [];
  const place = { path: 'nodes' };
  if (!Array.isArray(nodes)) {
    reports.violations.add('nodes.type', place, `\`nodes\` must be a list of nodes, got ${show(nodes)}.`);
    return [];
  }
  const list = nodes as readonly Json[];
  if (list.length === 0) reports.violations.add('plan.nodes.empty', place, 'A plan must have at least one node.');
  return list.map((node, index) => readNode(node, index, reports)).filter((node) => node !== undefined);
}

function readFinal(plan: ReadonlyMap<string, Json>, report: Report): NodeId | undefined {
  const final = plan.get('final_output_node');
  const place = { path: 'final_output_node', index: afterNodes };
  if (final === undefined) {
    report.add(
      'final.missing',
      place,
      '`final_output_node` is missing: it names the node whose result is the result of the plan.',
    );
    return undefined;
  }
  if (isNodeId(final)) return final;
  report.add(
    'final.type',
    place,
    `\`final_output_node\` must be the id of a node, got ${show(final)}.${adviseOnNumber(final)}`,
  );
  return undefined;
}

function readNode(json: Json, index: number, reports: Reports): DraftNode | undefined {
  const { violations } = reports;
  const path = `nodes[${index}]`;
  if (!isPlainObject(json)) {
    violations.add('plan.node.type', { path, index }, `A node must be an object, got ${show(json)}.`);
    return undefined;
  }
  const { id } = json as JsonObject;
  const known = isNodeId(id) ? id : undefined;
  const place: Place = { path, index, node: known };
  const node = readKeys(json as JsonObject, nodeKeys, place, violations);
  if (id === undefined)
    violations.add('node.id.missing', at(place, 'id'), `A node must have an \`id\`: ${nodeIdRule}.`);
  else if (known === undefined) {
    const message = `\`id\` must be ${nodeIdRule}; got ${show(id)}.${adviseOnNumber(id)}`;
    violations.add('node.id.invalid', at(place, 'id'), message);
  }
  return {
    index,
    path,
    id: known,
    tool: readTool(node, place, violations),
    functionName: readFunction(node, place, violations),
    inputs: readInputs(node, place, violations),
    dependencies: readDependencies(node, place, violations),
    retry: readNumber(node, 'retry', { standard: 0, place, report: reports.warnings }),
    timeout: readNumber(node, 'timeout', { standard: 60, place, report: reports.warnings }),
    onFail: readOnFail(node, place, violations),
    metadata: readMetadata(node, place, violations),
  };
}

function at(place: Place, key: string): Place {
  return { ...place, path: `${place.path}.${key}` };
}

function readTool(node: ReadonlyMap<string, Json>, place: Place, report: Report): string | undefined {
  const tool = node.get('tool');
  if (typeof tool === 'string' && tool !== '') return tool;
  if (tool === undefined || tool === '') {
    report.add('plan.node.tool.missing', at(place, 'tool'), 'A node must name its `tool`.');
  } else report.add('node.tool.type', at(place, 'tool'), `\`tool\` must be the name of a tool, got ${show(tool)}.`);
  return undefined;
}

function readFunction(node: ReadonlyMap<string, Json>, place: Place, report: Report): string | undefined {
  const name = node.get('function');
  if (name === undefined || typeof name === 'string') return name;
  report.add('function.type', at(place, 'function'), `\`function\` must be a name, got ${show(name)}.`);
  return undefined;
}

function readInputs(node: ReadonlyMap<string, Json>, place: Place, report: Report): ParsedInputs | undefined {
  const inputs = node.get('inputs') ?? (node.has('inputs') ? null : {});
  const inner = at(place, 'inputs');
  if (isPlainObject(inputs) && !Object.hasOwn(inputs, '$from')) return parseInputs(inputs as JsonObject, inner, report);
  const got = isPlainObject(inputs) ? 'a reference' : show(inputs);
  report.add('plan.inputs.type', inner, `\`inputs\` must be an object with a value for each input, got ${got}.`);
  return undefined;
}

function readDependencies(
  node: ReadonlyMap<string, Json>,
  place: Place,
  report: Report,
): readonly { readonly id: NodeId; readonly path: string }[] {
  const list = node.get('depends_on');
  if (list === undefined) return [];
  const listPlace = at(place, 'depends_on');
  if (!Array.isArray(list)) {
    report.add('deps.type', listPlace, `\`depends_on\` must be a list of ids, got ${show(list)}.`);
    return [];
  }
  return (list as readonly Json[]).flatMap((id, index) => {
    const path = `${listPlace.path}[${index}]`;
    if (isNodeId(id)) return [{ id: id, path }];
    const message = `\`depends_on\` must hold ids of nodes; ${show(id)} is not a valid id.${adviseOnNumber(id)}`;
    report.add('deps.type', { ...place, path }, message);
    return [];
  });
}

function readNumber(
  node: ReadonlyMap<string, Json>,
  key: 'retry' | 'timeout',
  { standard, place, report }: { readonly standard: number; readonly place: Place; readonly report: Report },
): number {
  const value = node.get(key);
  if (typeof value === 'number') return value;
  if (value !== undefined) {
    const message = `\`${key}\` must be a number, got ${show(value)}. Using the default, ${standard}.`;
    report.add('number.default', at(place, key), message);
  }
  return standard;
}

function readOnFail(node: ReadonlyMap<string, Json>, place: Place, report: Report): OnFail {
  const value = node.get('on_fail') ?? (node.has('on_fail') ? null : 'halt');
  if (value === 'halt' || value === 'continue' || value === 'skip_dependents') return value;
  const message = `\`on_fail\` must be \`halt\`, \`continue\` or \`skip_dependents\`, got ${show(value)}.`;
  report.add('on_fail.unknown', at(place, 'on_fail'), message);
  return 'halt';
}

/** `thought` is an alias of `metadata.purpose`. */
function readMetadata(node: ReadonlyMap<string, Json>, place: Place, report: Report): JsonObject {
  const metadata = node.get('metadata') ?? (node.has('metadata') ? null : {});
  const thought = node.get('thought');
  if (!isPlainObject(metadata)) {
    report.add('metadata.type', at(place, 'metadata'), `\`metadata\` must be an object, got ${show(metadata)}.`);
    return {};
  }
  const { purpose = thought } = metadata as JsonObject;
  if (purpose !== undefined && typeof purpose !== 'string') {
    const isOlder = thought !== undefined && !Object.hasOwn(metadata, 'purpose');
    const where = isOlder ? at(place, 'thought') : at(at(place, 'metadata'), 'purpose');
    report.add('metadata.type', where, `The purpose of a node must be a text, got ${show(purpose)}.`);
  } else if (thought !== undefined && Object.hasOwn(metadata, 'purpose')) {
    const message = '`thought` is an alias of `metadata.purpose`. Keep only one of them.';
    report.add('key.twice', at(place, 'thought'), message);
  }
  return purpose === undefined ? (metadata as JsonObject) : { ...(metadata as JsonObject), purpose };
}
