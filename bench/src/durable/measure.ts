import { DBOS } from '@dbos-inc/dbos-sdk';
import { PostgresServer } from 'holdfast-tests-databases/postgres-server';
import { type Extent, everything } from '../compare.ts';
import type { Report } from '../report.ts';
import { measureAppends } from './appends.ts';
import { measureGrowth } from './growth.ts';
import { launch, measureSessions, measureTurns } from './runs.ts';

/** Measures sessions in a PostgreSQL server on this machine, which syncs each commit to the disk. */
export async function measureDurable(extent: Extent = everything): Promise<readonly Report[]> {
  await using server = await PostgresServer.start({ syncs: true });
  const pool = server.pool(await server.newDatabase(), { max: 20 });
  const reports: Report[] = [...(await measureAppends(pool, extent)), ...(await measureGrowth(pool, extent))];
  const ways = await launch(pool);
  try {
    reports.push(await measureTurns(ways, extent), ...(await measureSessions(ways, extent)));
  } finally {
    await DBOS.shutdown();
  }
  return reports;
}
