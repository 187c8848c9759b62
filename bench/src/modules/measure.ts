import { type Extent, everything } from '../compare.ts';
import type { Report } from '../report.ts';
import { measureInvokes } from './invoke.ts';
import { measureLoading } from './load.ts';
import { measureReloading } from './reload.ts';

/** Measures modules: calls with and without tools, loading, and reloading when one of many changes. */
export async function measureModules(extent: Extent = everything): Promise<readonly Report[]> {
  return [...(await measureInvokes(extent)), await measureLoading(extent), ...(await measureReloading(extent))];
}
