import { readFile } from 'node:fs/promises';
import { HoldfastError } from '@holdfast/core';
import { style } from '../drawing/style.ts';
import { hasCode } from '../terminal/system.ts';

/** A file of the page. None holds a secret or anything of a log. */
export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** By path. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const names = { 'index.html': 'text/html', 'page.js': 'text/javascript', 'page.css': 'text/css' } as const;

/** In this package, or beside the sources after `npm run build`. */
const builtFolder: URL = new URL(
  import.meta.url.endsWith('.ts') ? '../../../studio/dist/' : './studio/',
  import.meta.url,
);

/** @throws HoldfastError `command.failed`. */
export async function readPageFiles(folder: URL = builtFolder): Promise<PageFiles> {
  try {
    const bodies = await Promise.all(Object.keys(names).map((name) => readFile(new URL(name, folder), 'utf8')));
    return toPageFiles(bodies);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause;
    throw new HoldfastError('command.failed', 'The page of the studio is not built: run `npm run build` first.', {
      data: { reason: 'studio.page_missing' },
      cause,
    });
  }
}

/** `bodies`: of `index.html`, `page.js` and `page.css`. The style of `trace --html` is served beside them. */
export function toPageFiles([html = '', script = '', css = '']: readonly string[]): PageFiles {
  return new Map([
    ['/', { type: names['index.html'], body: html }],
    ['/page.js', { type: names['page.js'], body: script }],
    ['/page.css', { type: names['page.css'], body: css }],
    ['/trace.css', { type: names['page.css'], body: style }],
  ]);
}
