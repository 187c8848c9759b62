import { pathToFileURL } from 'node:url';
import type { PinnedTool } from './pinned-tool.ts';

/** One URL a content: Node keeps modules by URL, and would answer with what it read from this path before. */
export function toImportUrl({ entry, digest }: Pick<PinnedTool, 'entry' | 'digest'>): string {
  const url = pathToFileURL(entry);
  url.searchParams.set('sha256', digest);
  return url.href;
}
