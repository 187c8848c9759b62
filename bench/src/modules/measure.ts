import { type Extent, everything } from '../compare.ts';
import type { Report } from '../report.ts';
import { measureInvokes } from './invoke.ts';
import { measureLoading } from './load.ts';
import { measureReloading } from './reload.ts';

/** What modules cost: asked, with and without tools, loaded, and loaded again when one of many changes. */
export async function measureModules(extent: Extent = everything): Promise<readonly Report[]> {
  return [...(await measureInvokes(extent)), await measureLoading(extent), ...(await measureReloading(extent))];
}
