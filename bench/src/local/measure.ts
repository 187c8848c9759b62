import { type Extent, everything } from '../compare.ts';
import type { Report } from '../report.ts';
import { measureAnswers } from './answers.ts';
import { measureLoading } from './load.ts';
import { measureMemory } from './memory.ts';

/** Measures the packaged model: loading, answers, and memory. */
export async function measureLocal(extent: Extent = everything): Promise<readonly Report[]> {
  return [await measureLoading(extent), ...(await measureAnswers(extent)), await measureMemory(extent)];
}
