import type { Extent } from '../compare.ts';
import type { Report } from '../report.ts';
import { measureAppends } from './append.ts';
import { measureReopening } from './reopen.ts';

/** Measures sessions in each store. */
export async function measureStores(extent?: Extent): Promise<readonly Report[]> {
  return [...(await measureAppends(extent)), await measureReopening(extent)];
}
