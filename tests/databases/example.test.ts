import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PostgresServer } from './postgres-server.ts';

const example = fileURLToPath(new URL('../../examples/35-several-machines.ts', import.meta.url));

test('the example of several machines holds on PostgreSQL', async () => {
  await using server = await PostgresServer.start();
  const { host, database, user } = server.settings(await server.newDatabase());
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=holdfast-source', example], {
    env: { ...process.env, DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}` },
  });
  expect(stdout).toContain('packed once, paid once');
});
