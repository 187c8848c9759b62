import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folder, installPeers, versions } from './install.ts';
import { type KitDriver, runKit } from './kit.ts';
import { type Column, programs, renderTable, tableFile } from './table.ts';

beforeAll(installPeers);

const columns: Column[] = [];

test.each(programs)('%s in the situations of the kit', async (program) => {
  const driver = (await import(join(folder, 'programs', 'kit', `${program}.mjs`))) as KitDriver;
  const seen = await runKit(driver);
  columns.push({ program, driver, seen });
  if (program === 'holdfast') expect(seen.filter(({ cell }) => cell !== 'held')).toEqual([]);
  expect(seen.some(({ cell }) => cell === 'held')).toBe(true);
});

afterAll(() => {
  if (columns.length !== programs.length) return;
  writeFileSync(tableFile, renderTable(columns, versions, new Date().toISOString().slice(0, 10)));
});
