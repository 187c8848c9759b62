import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const page = new URL('../../apps/docs/guide/several-machines.md', import.meta.url);

test('the compose file of the guide serves the database that the page connects to, on this machine only', async () => {
  const text = await readFile(page, 'utf8');
  const compose = /```yaml\n(services:[\s\S]*?)```/.exec(text)?.[1] ?? '';
  const { services } = parse(compose, { strict: true, uniqueKeys: true }) as {
    readonly services: { readonly postgres: Readonly<Record<string, unknown>> };
  };
  expect(services.postgres).toEqual({
    image: expect.stringMatching(/^postgres:\d+$/),
    environment: { POSTGRES_USER: 'holdfast', POSTGRES_PASSWORD: 'holdfast' },
    ports: ['127.0.0.1:5432:5432'],
  });
  // The name of the database is by default that of the user.
  expect(text).toContain('DATABASE_URL=postgres://holdfast:holdfast@localhost/holdfast');
  // Where it is installed, with its own rules.
  const checked = spawnSync('docker-compose', ['-f', '-', 'config', '-q'], { input: compose, encoding: 'utf8' });
  if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: '' });
});
