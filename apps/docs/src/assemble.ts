import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inlineDiagrams } from './diagrams.ts';
import { fillParts } from './generated-parts.ts';
import { libraries, repository } from './libraries.ts';
import { renderReference } from './reference-page.ts';

/**
 * Fills `<docs>/.cache/site`, the source folder of the site: the pages of `<docs>/guide` with their generated parts and diagrams, and a
 * reference page for each package.
 */
export async function assemble(docs: string): Promise<void> {
  const site = join(docs, '.cache', 'site');
  await rm(site, { recursive: true, force: true });
  await cp(join(docs, 'guide'), site, { recursive: true });
  const pages = (await readdir(site, { recursive: true })).filter((path) => path.endsWith('.md'));
  for (const page of pages) {
    const path = join(site, page);
    await writeFile(path, await fillParts(await inlineDiagrams(await readFile(path, 'utf8'), site)));
  }
  await mkdir(join(site, 'reference'), { recursive: true });
  for (const library of libraries()) {
    const folder = join(repository, 'packages', library.folder);
    await writeFile(join(site, 'reference', `${library.folder}.md`), renderReference(library, folder));
  }
}
