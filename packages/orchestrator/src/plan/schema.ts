import type { JsonObject } from '@holdfast/core';
import { deepFreeze } from '@holdfast/core/internal';

const nodeId: JsonObject = {
  description: 'The id of a node: a whole number from 0, or a short name.',
  anyOf: [
    { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' },
  ],
};

const node: JsonObject = {
  type: 'object',
  properties: {
    id: { $ref: '#/$defs/id' },
    tool: { type: 'string', minLength: 1, description: 'The name of the tool.' },
    function: { type: 'string', description: "The tool's function. Optional." },
    inputs: {
      type: 'object',
      description:
        'A value for each input of the tool. Anywhere in it, { "$from": id, "path": "a.b[0]", "default": value } is replaced by a result of an earlier node; {{STEPS.id.path | default: "text"}} does the same within a text.',
      properties: { $from: false },
      additionalProperties: true,
      default: {},
    },
    depends_on: {
      type: 'array',
      description: 'Nodes to wait for, in addition to those that the inputs refer to.',
      items: { $ref: '#/$defs/id' },
      default: [],
    },
    retry: { type: 'integer', minimum: 0, description: 'How often a failed call is retried.', default: 0 },
    timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds.', default: 60 },
    on_fail: {
      type: 'string',
      enum: ['halt', 'continue', 'skip_dependents'],
      description: 'What happens to the other nodes if this one fails.',
      default: 'halt',
    },
    metadata: {
      type: 'object',
      properties: { purpose: { type: 'string', description: 'The purpose of the node, in a few words.' } },
      additionalProperties: true,
      default: {},
    },
  },
  required: ['id', 'tool'],
  additionalProperties: false,
};

/**
 * Version 1 of the plan format as JSON Schema 2020-12, for models and editors. It describes the format; `checkPlan` decides if a plan is
 * valid.
 */
export const planSchema: JsonObject = deepFreeze({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:holdfast:plan:1',
  title: 'Holdfast plan, version 1',
  anyOf: [{ $ref: '#/$defs/plan' }, { $ref: '#/$defs/declined' }],
  $defs: {
    id: nodeId,
    node,
    plan: {
      type: 'object',
      properties: {
        version: { const: 1 },
        status: { const: 'success' },
        nodes: { type: 'array', items: { $ref: '#/$defs/node' }, minItems: 1 },
        final_output_node: { $ref: '#/$defs/id' },
      },
      required: ['nodes', 'final_output_node'],
      additionalProperties: false,
    },
    declined: {
      type: 'object',
      properties: {
        version: { const: 1 },
        status: { const: 'error' },
        error: { type: 'string', minLength: 1, description: 'Why the request cannot be done with these tools.' },
      },
      required: ['status', 'error'],
      additionalProperties: false,
    },
  },
});
