// `npm run build`: writes the page into dist/, from where the program takes it.
import { mkdir, writeFile } from 'node:fs/promises';
import { buildPage } from './build.ts';

const folder = new URL('../dist/', import.meta.url);
await mkdir(folder, { recursive: true });
const texts = await buildPage();
for (const [index, name] of ['index.html', 'page.js', 'page.css'].entries())
  await writeFile(new URL(name, folder), texts[index] ?? '');
