import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { CrashesSeen } from './crash-check.ts';
import { crashInMemory } from './crash-memory.ts';
import { jsonlPlace, type Place, postgresPlace, sqlitePlace } from './crash-places.ts';
import { crash } from './crash-run.ts';
import { CuttingProxy } from './cutting-proxy.ts';
import type { PostgresServer } from './postgres-server.ts';

export interface CrashSetting {
  readonly server: PostgresServer;
  readonly folder: string;
  readonly random: () => number;
  readonly crashes: number;
}

type Kind = (setting: CrashSetting) => Promise<CrashesSeen>;

/** By what is done to them. */
export const crashKinds: Readonly<Record<string, Kind>> = {
  'memory: the process ends at any record': ({ random, crashes }) => crashInMemory(crashes, random),
  'JSON lines: one worker is killed': ({ folder, ...rest }) =>
    crash({ ...jsonlPlace(newFolder(folder)), how: 'kill', ...rest }),
  'SQLite: two workers on one session are killed': ({ folder, ...rest }) =>
    crash({ ...sqlitePlace(newFolder(folder)), how: 'two', ...rest }),
  'PostgreSQL: one worker is killed': async (setting) =>
    crash({ ...(await postgres(setting)), how: 'kill', ...setting }),
  'PostgreSQL: two workers on one session are killed': async (setting) =>
    crash({ ...(await postgres(setting)), how: 'two', ...setting }),
  'PostgreSQL: a worker is stopped past its lease, and continued': async (setting) =>
    crash({ ...(await postgres(setting)), how: 'stop', ...setting }),
  'PostgreSQL: the server crashes and comes back': async (setting) => {
    const { server } = setting;
    const disturb = async (): Promise<void> => {
      await server.stop('crash');
      await server.resume();
    };
    return crash({ ...(await postgres(setting)), how: 'two', ...setting, disturb });
  },
  'PostgreSQL: connections are cut, also in a commit': async (setting) => {
    const { server, random, folder } = setting;
    const database = await server.newDatabase();
    const behind = server.settings(database);
    const own = newFolder(folder);
    await using proxy = new CuttingProxy(behind, { folder: own, random, chance: 0.01 });
    await proxy.listen();
    const seen = await crash({
      ...postgresPlace(server.pool(database), { ...behind, host: own }),
      how: 'two',
      ...setting,
    });
    if (proxy.cuts === 0) throw new Error('No connection was cut.');
    return seen;
  },
  'PostgreSQL: a lease ends in the middle of an effect, and its statements arrive late': async (setting) => {
    const { server, random, folder } = setting;
    const database = await server.newDatabase();
    const behind = server.settings(database);
    const own = newFolder(folder);
    await using proxy = new CuttingProxy(behind, { folder: own, random, chance: 0 });
    await proxy.listen();
    const cutOff = { settings: { ...behind, host: own }, hold: () => proxy.hold(), release: () => proxy.release() };
    // Awaited before the proxy ends.
    return await crash({ ...postgresPlace(server.pool(database), behind), how: 'lapse', ...setting, cutOff });
  },
  'DBOS: a worker is killed, and started again with its executor id': async (setting) =>
    crash({ ...(await postgres(setting, 'dbos')), how: 'kill', ...setting }),
};

function newFolder(folder: string): string {
  return mkdtempSync(join(folder, 'place-'));
}

async function postgres({ server }: CrashSetting, kind?: 'dbos'): Promise<Place> {
  const database = await server.newDatabase();
  return postgresPlace(server.pool(database), server.settings(database), kind);
}
