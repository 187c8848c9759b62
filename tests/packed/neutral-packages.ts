import { readCatalogVersion } from './stranger.ts';

const names = [
  'adapter-ai-sdk',
  'adapter-offline',
  'core',
  'executor',
  'filesystem',
  'planning',
  'policy',
  'prompt',
  'schema',
  'session',
  'testing',
];

/** What neutral-program.ts imports. */
export const neutralPackages: readonly string[] = [
  ...names.map((name) => `@holdfast/${name}`),
  `valibot@${await readCatalogVersion('valibot')}`,
];

/** What it gives, in every runtime. */
export const neutralResult: object = {
  status: 'completed',
  text: 'All done.',
  outcomes: 'ok ok ok ok ok ok',
  notes: [{ text: 'done' }],
  plan: 'completed',
  refused: 'invalid',
  plain: [true, false],
  offline: 'completed',
  sdk: 'Hello',
};
