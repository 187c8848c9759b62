// npm run api: writes the exports of every package to tooling/api.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiFolder, describeApis } from './api-report.ts';
import { readRepository } from './repository.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { files, ...repository } = await readRepository(root);
const reports = describeApis({ files, ...repository });

await mkdir(join(root, apiFolder), { recursive: true });
for (const name of await readdir(join(root, apiFolder))) {
  if (!reports.has(`${apiFolder}/${name}`)) await rm(join(root, apiFolder, name));
}
for (const [path, text] of reports) {
  await writeFile(join(root, path), text);
  if (files.get(path) !== text) console.log(`wrote ${path}`);
}
