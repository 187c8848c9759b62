import { toTool } from './test-program.ts';

/** A tool file whose function returns its input, or fails. */
const act = `export const METADATA = {
  name: 'act', function: 'run_act', description: 'Acts.', dangerous: false, effects: 'none',
  parameters: {
    type: 'object',
    properties: { say: { type: ['string', 'null'] }, fail: { type: 'string' } },
  },
};
export async function run_act({ say = null, fail }, context) {
  context.progress('acting');
  if (fail !== undefined) throw new Error(fail);
  return { said: say };
}
`;

/** Tools for plans: one that acts, one that fails twice, a dangerous one, and an external one that never ends. */
export const planTools: Readonly<Record<string, string>> = {
  'plugins/act.mjs': act,
  'plugins/flaky.mjs': toTool('flaky', "throw new Error('busy');").replace(
    "'none',",
    "'none', retry: { attempts: 2, delayMs: 0 },",
  ),
  'plugins/wipe.mjs': toTool('wipe', "return 'wiped';", 'external').replace('dangerous: false', 'dangerous: true'),
  'plugins/hang.mjs': toTool(
    'hang',
    "context.progress('hanging'); return new Promise(() => setInterval(() => {}, 1000));",
    'external',
  ),
};

/** The text of a plan whose last node is the final one. */
export function planText(
  ...nodes: readonly { readonly id: string | number; readonly [key: string]: unknown }[]
): string {
  return JSON.stringify({ nodes, final_output_node: nodes.at(-1)?.id });
}
