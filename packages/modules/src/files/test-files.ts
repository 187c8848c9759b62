import { jsonSchema } from '@holdfast/schema/json';
import { defineSignature, type Signature } from '../signature/signature.ts';
import type { ModuleDefinition } from './definition.ts';

/** A signature with fields of several types, two of them optional. */
export const haggle: Signature = defineSignature({
  name: 'npc.merchant',
  instruction: 'Answer as a merchant.',
  inputSchema: jsonSchema({
    type: 'object',
    properties: { player_message: { type: 'string' }, gold: { type: 'integer', minimum: 0 } },
    required: ['player_message'],
  }),
  outputSchema: jsonSchema({
    type: 'object',
    properties: {
      response: { type: 'string' },
      mood: { enum: ['gruff', 'kind'] },
      offers: { type: 'array', items: { $ref: '#/$defs/offer' } },
    },
    required: ['response', 'mood'],
    $defs: { offer: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] } },
  }),
});

/** A module of `haggle` in which every key is used. */
export const fullModule: ModuleDefinition = {
  module_id: 'npc.merchant.haggle',
  predictor_type: 'chain_of_thought',
  signature_name: 'npc.merchant',
  signature: {
    inputs: [
      { name: 'player_message', description: 'What the player says', field_type: 'string' },
      { name: 'gold', field_type: 'integer' },
    ],
    outputs: [{ name: 'response' }, { name: 'mood', field_type: 'string' }, { name: 'offers', field_type: 'array' }],
  },
  instruction: 'Haggle. Never go below half of the price.',
  descriptions: { gold: 'Coins in the purse' },
  demos: [
    {
      inputs: { player_message: 'How much is the rope?', gold: 3 },
      outputs: { reasoning: 'Little gold.', response: 'Four.', mood: 'gruff', offers: [{ item: 'rope' }] },
    },
    { inputs: { player_message: 'Hello' }, outputs: {} },
  ],
  tool_enabled: true,
  metadata: {
    optimizer: 'MIPROv2',
    optimized_at: '2025-11-24T10:30:00Z',
    metric_score: 0.87,
    version: '1.0.0',
    trials: { count: 12, seeds: [1, 2] },
  },
};

/** A module of `haggle` that works by calling tools. */
export const reactModule: ModuleDefinition = {
  module_id: 'npc.merchant.react',
  predictor_type: 'react',
  signature_name: 'npc.merchant',
  demos: [
    {
      inputs: { player_message: 'Rope?', trajectory: '' },
      outputs: { next_thought: 'Look.', next_tool_name: 'check_inventory', next_tool_args: { item: 'rope' } },
    },
  ],
  tool_enabled: true,
  tool_protocol: 'text',
  lists_tools: true,
  extract: {
    instruction: 'Answer from what was found out.',
    descriptions: { reasoning: 'Why' },
    demos: [{ inputs: { trajectory: 'x' }, outputs: { reasoning: 'y', response: 'Yes.', mood: 'kind' } }],
  },
  metadata: { version: '2' },
};

/** Files of a folder that lists these modules, each under `<id>.json`. */
export function listModules(definitions: readonly object[], hash: string | null = null): Record<string, string> {
  const files: Record<string, string> = {};
  const modules: Record<string, unknown> = {};
  for (const definition of definitions) {
    const id = 'module_id' in definition ? String(definition.module_id) : 'unnamed';
    files[`${id}.json`] = JSON.stringify(definition);
    modules[id] = { path: `${id}.json`, hash, tags: ['test'] };
  }
  return { ...files, 'manifest.json': JSON.stringify({ version: '1.0', modules }) };
}
