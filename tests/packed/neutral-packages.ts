import { readCatalogVersion } from './stranger.ts';

const names = [
  'adapter-ai-sdk',
  'adapter-offline',
  'core',
  'dspy',
  'executor',
  'facts',
  'filesystem',
  'guard',
  'kit',
  'modules',
  'orchestrator',
  'otel',
  'pack-approvals',
  'pack-budgets',
  'pack-filesystem',
  'pack-network',
  'pack-provenance',
  'pack-release',
  'pack-shell',
  'planning',
  'policy',
  'prompt',
  'registry',
  'schema',
  'session',
  'testing',
];

/** The imports of neutral-program.ts. */
export const neutralPackages: readonly string[] = [
  ...names.map((name) => `@holdfast/${name}`),
  `valibot@${await readCatalogVersion('valibot')}`,
];

/** Its expected result in every runtime. */
export const neutralResult: object = {
  status: 'completed',
  text: 'All done.',
  outcomes: 'ok ok ok ok ok ok',
  notes: [{ text: 'done' }],
  plan: 'completed',
  refused: 'invalid',
  secret: 'denied',
  checked: 'valid',
  planned: ['succeeded', 'read_file ok', 'note ok'],
  traced: [true, true],
  asked: ['completed', { answer: 'Everywhere.' }, 'ok'],
  plain: [true, false],
  read: ['/project/.env'],
  imported: 'refused',
  guarded: 'allow',
  offline: 'completed',
  kit: true,
  spans: true,
  sdk: 'Hello',
};
